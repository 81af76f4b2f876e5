import type { TrashDoneCode } from "../contracts/pages/trash-texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import type { TrashBody } from "../schemas/trash.ts";
import { formatsOf, renderSeconds } from "./formats.ts";
import { ICONS, icon } from "./icons.ts";
import { type Page, type PageContext, renderPage, renderScript } from "./page.ts";
import { openRowsPage, ROWS } from "./rows-page.ts";
import type { TextSource } from "./text-source.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the page of the trash shows. */
export interface TrashPage {
  /** Newest first, a few at a time. */
  readonly entries: AsyncIterator<readonly TrashBody[]>;
  /** The URL path of the trash. */
  readonly path: string;
  /** The number of entries that a form may have. */
  readonly maxSelected: number;
  /** The URL path of the account's root folder. */
  readonly home: string;
  /** The result of the last form. */
  readonly done?: TrashDoneCode | undefined;
  /** The problems of the last form, by the names of what they are about. */
  readonly problems?: readonly { readonly name: string; readonly error: ShownError }[];
}

/**
 * Opens the page with the trash of an account, which is read while the page is sent. It works without a script.
 * @throws what the first steps of `entries` throw.
 */
export function openTrashPage(context: PageContext, page: TrashPage): Promise<TextSource> {
  return openRowsPage({
    rows: page.entries,
    toFrame: (isEmpty) => renderPage(context, toPage(context, page, isEmpty)),
    toRow: (entry) => renderRow(context, entry),
  });
}

function toPage(context: PageContext, page: TrashPage, isEmpty: boolean): Page {
  const { texts } = context;
  const title = texts.trash.list;
  const content = html`<main class="links">
<nav class="crumbs" aria-label="${texts.folderPath}"><ol><li><a href="${page.home}">${texts.home}</a></li></ol></nav>
<h1>${title}</h1>
${renderMessages(context, page)}
${isEmpty ? renderNothing(context) : renderTable(context, page)}
</main>
${ICONS}`;
  return { title, content, head: renderScript(context) };
}

function renderMessages({ texts }: PageContext, { done, problems = [] }: TrashPage): SafeHtml | undefined {
  if (problems.length > 0) {
    const items = problems.map(({ name, error }) => html`<li><bdi>${name}</bdi>: ${toErrorText(texts, error)}</li>`);
    return html`<div role="alert" class="notice problem"><p>${texts.problems}</p><ul>${items}</ul></div>`;
  }
  if (done === undefined) return undefined;
  return html`<p role="status" class="notice success">${texts.trash[done]}</p>`;
}

function renderNothing({ texts: { trash } }: PageContext): SafeHtml {
  return html`<div class="empty">${icon("empty")}<p><strong>${trash.empty}</strong></p></div>`;
}

/** The question before everything is deleted opens without a script. */
function renderTable({ texts }: PageContext, { path, maxSelected }: TrashPage): SafeHtml {
  const { trash } = texts;
  return html`<form method="post" action="${path}">
<div class="selected" role="group" aria-label="${texts.withSelected}">
<label hidden><input type="checkbox" id="select-all" data-max="${maxSelected}">${texts.selectAll}</label>
<span aria-hidden="true">${texts.withSelected}</span>
<button name="action" value="restore-members" class="neutral">${trash.restore}</button>
<button name="action" value="purge-members" class="danger">${trash.purge}</button>
</div>
<table>
<caption class="unseen">${trash.list}</caption>
<thead><tr><th scope="col"><span class="unseen">${texts.selection}</span></th><th scope="col">${texts.name}</th><th scope="col" class="size">${texts.size}</th><th scope="col">${trash.removed}</th></tr></thead>
<tbody>
${ROWS}</tbody>
</table>
</form>
<details class="all"><summary>${trash.purgeAll}</summary>
<form method="post" action="${path}"><p>${trash.purgeAllHint}</p>
<button name="action" value="purge-all" class="danger">${trash.purgeAll}</button></form>
</details>`;
}

function renderRow(
  { texts }: PageContext,
  { id, path, name, is_directory: isFolder, size, removed }: TrashBody,
): SafeHtml {
  const formats = formatsOf(texts);
  const kind = isFolder ? texts.folder : texts.file;
  return html`<tr><td><input type="checkbox" name="selected-members" value="${id}" aria-label="${fillText(texts.select, { name })}"></td><th scope="row"><span class="unseen">${kind}</span> <bdi>${name}</bdi><small><bdi>${path}</bdi></small></th><td class="size" data-label="${texts.size}">${isFolder ? "" : formats.size(size)}</td><td data-label="${texts.trash.removed}">${renderSeconds(texts, removed)}</td></tr>
`;
}
