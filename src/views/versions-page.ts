import type { VersionDoneCode } from "../contracts/pages/version-texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import type { VersionBody } from "../schemas/versions.ts";
import { formatsOf, renderSeconds } from "./formats.ts";
import { ICONS, icon } from "./icons.ts";
import { type Page, type PageContext, renderPage, renderScript } from "./page.ts";
import { openRowsPage, ROWS } from "./rows-page.ts";
import type { TextSource } from "./text-source.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the page with the versions of a file shows. */
export interface VersionsPage {
  /** Newest first, a few at a time. */
  readonly versions: AsyncIterator<readonly VersionBody[]>;
  /** The file as it is now. `modified`: POSIX seconds. */
  readonly file: Omit<VersionBody, "id"> & { readonly name: string; readonly url: string };
  /** The URL path of the list, with its query. */
  readonly path: string;
  /** The folder that the file is in. Without a name it is the root. */
  readonly folder: { readonly url: string; readonly name: string | undefined };
  /** The URL path of a version. */
  readonly toUrl: (id: string) => string;
  /** What the account may do. */
  readonly actions: { readonly restore: boolean; readonly purge: boolean };
  /** The result of the last form. */
  readonly done?: VersionDoneCode | undefined;
  /** The problems of the last form. */
  readonly problems?: readonly ShownError[];
}

/**
 * Opens the page with the versions of a file, which are read while it is sent. It works without a script.
 * @throws what the first steps of `versions` throw.
 */
export function openVersionsPage(context: PageContext, page: VersionsPage): Promise<TextSource> {
  return openRowsPage({
    rows: page.versions,
    toFrame: (isEmpty) => renderPage(context, toPage(context, page, isEmpty)),
    toRow: (version) => renderRow(context, page, version),
  });
}

function toPage(context: PageContext, page: VersionsPage, isEmpty: boolean): Page {
  const { texts } = context;
  const { file, folder } = page;
  const title = fillText(texts.versions.ofFile, { name: file.name });
  const content = html`<main class="links">
<nav class="crumbs" aria-label="${texts.folderPath}"><ol><li><a href="${folder.url}"><bdi>${folder.name ?? texts.home}</bdi></a></li></ol></nav>
<h1><bdi>${title}</bdi></h1>
${renderMessages(context, page)}
${renderPresent(context, file)}
${isEmpty ? renderNothing(context) : renderTable(context)}
</main>
${ICONS}`;
  return { title, content, head: renderScript(context) };
}

function renderMessages({ texts }: PageContext, { done, problems = [] }: VersionsPage): SafeHtml | undefined {
  if (problems.length > 0) {
    const items = problems.map((error) => html`<li>${toErrorText(texts, error)}</li>`);
    return html`<div role="alert" class="notice problem"><ul>${items}</ul></div>`;
  }
  if (done === undefined) return undefined;
  return html`<p role="status" class="notice success">${texts.versions[done]}</p>`;
}

function renderPresent(context: PageContext, { url, modified, size }: VersionsPage["file"]): SafeHtml {
  const { texts } = context;
  const sizeText = formatsOf(texts).size(size);
  return html`<p>${texts.versions.present} <a href="${url}">${renderSeconds(texts, modified)}</a>, ${sizeText}</p>`;
}

function renderNothing({ texts: { versions } }: PageContext): SafeHtml {
  return html`<div class="empty">${icon("empty")}<p><strong>${versions.empty}</strong></p><p>${versions.emptyHint}</p></div>`;
}

function renderTable({ texts }: PageContext): SafeHtml {
  const { versions } = texts;
  return html`<table>
<caption class="unseen">${versions.list}</caption>
<thead><tr><th scope="col">${texts.modified}</th><th scope="col" class="size">${texts.size}</th><th scope="col"><span class="unseen">${versions.action}</span></th></tr></thead>
<tbody>
${ROWS}</tbody>
</table>`;
}

/** Each row has a form of its own, so that no box has to be ticked first. */
function renderRow(context: PageContext, page: VersionsPage, { id, modified, size }: VersionBody): SafeHtml {
  const { texts } = context;
  const { versions } = texts;
  const { path, toUrl, actions } = page;
  const formats = formatsOf(texts);
  const time = `${formats.time(new Date(modified * 1000))} UTC`;
  const buttons = [
    actions.restore ? toButton("restore-members", "neutral", versions.restore, versions.restoreOne, time) : undefined,
    actions.purge ? toButton("purge-members", "danger", versions.purge, versions.purgeOne, time) : undefined,
  ].filter((button) => button !== undefined);
  const form = html`<form method="post" action="${path}"><input type="hidden" name="selected-members" value="${id}">${buttons}</form>`;
  const download = html`<a class="button" href="${toUrl(id)}" aria-label="${fillText(versions.downloadOne, { time })}">${versions.download}</a>`;
  return html`<tr><th scope="row">${renderSeconds(texts, modified)}</th><td class="size" data-label="${texts.size}">${formats.size(size)}</td><td><div class="row-actions">${download}${buttons.length > 0 ? form : undefined}</div></td></tr>
`;
}

function toButton(action: string, style: string, label: string, name: string, time: string): SafeHtml {
  return html`<button name="action" value="${action}" class="${style}" aria-label="${fillText(name, { time })}">${label}</button>`;
}
