import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import { toAssetPath, VIEWER_NAME } from "../assets.ts";
import { renderRowTime, renderSizeCell } from "../formats.ts";
import { ICONS, icon } from "../icons.ts";
import { findInlineType } from "../inline-types.ts";
import { type FoundMember, type MemberOrder, toOrderedUrl } from "../member-order.ts";
import { type PageContext, renderPage, renderScript } from "../page.ts";
import { openRowsPage, ROWS } from "../rows-page.ts";
import type { TextSource } from "../text-source.ts";
import { renderLink } from "./member-rows.ts";
import { renderOrderFields } from "./order-fields.ts";

/** What the page of a search shows. */
export interface SearchPage {
  readonly batches: AsyncGenerator<readonly FoundMember[], void>;
  /** Whether there may be more than `batches` had. */
  isTruncated(): boolean;
  readonly text: string;
  /** The order of the folder that is searched: folders open in it. What was found comes as it is found. */
  readonly order: MemberOrder;
  /** The name of the folder that is searched. */
  readonly folder: string;
  /** Whether the script opens files in the page. A link that counts would count each of them as a download. */
  readonly isViewable: boolean;
}

/**
 * Opens the page with what a search has found, which goes on while the page is sent. It works without a script.
 * @throws what the first steps of `batches` throw.
 */
export function openSearchPage(context: PageContext, page: SearchPage): Promise<TextSource> {
  return openRowsPage<FoundMember | "truncated">({
    rows: withNote(page),
    toFrame: (isEmpty) => renderFrame(context, page, isEmpty),
    toRow: (row) => (row === "truncated" ? renderNote(context.texts) : renderRow(context.texts, row, page)),
  });
}

/** The last row says if there may be more. */
async function* withNote({ batches, isTruncated }: SearchPage): AsyncGenerator<readonly (FoundMember | "truncated")[]> {
  yield* batches;
  if (isTruncated()) yield ["truncated"];
}

function renderFrame(context: PageContext, { text, folder, order }: SearchPage, isEmpty: boolean): SafeHtml {
  const { texts, config } = context;
  const title = fillText(texts.found, { text });
  const content = html`<main id="found" class="links" data-texts="${JSON.stringify(texts.script)}" data-viewer="${toAssetPath(config.basePath, VIEWER_NAME)}">
<nav class="crumbs" aria-label="${texts.folderPath}"><ol><li><a href="${toOrderedUrl("./", order)}"><bdi>${folder}</bdi></a></li></ol></nav>
<h1><bdi>${title}</bdi></h1>
<form class="search" role="search" method="get" action="./"><input type="search" name="q" value="${text}" aria-label="${texts.search}" maxlength="255" autocomplete="off" spellcheck="false" dir="auto" required>${renderOrderFields(order)} <button>${texts.search}</button></form>
${isEmpty ? renderNothing(texts) : renderTable(texts, title)}
</main>
${ICONS}`;
  return renderPage(context, { title, content, head: renderScript(context) });
}

function renderNothing(texts: Texts): SafeHtml {
  return html`<div class="empty">${icon("empty")}<p><strong>${texts.nothingFound}</strong></p></div>`;
}

function renderTable(texts: Texts, title: string): SafeHtml {
  return html`<table>
<caption class="unseen">${title}</caption>
<thead><tr><th scope="col">${texts.name}</th><th scope="col" class="size">${texts.size}</th><th scope="col" class="modified">${texts.modified} <small>UTC</small></th></tr></thead>
<tbody>
${ROWS}</tbody>
</table>`;
}

function renderNote(texts: Texts): SafeHtml {
  return html`<tr><td colspan="3">${texts.foundTruncated}</td></tr>
`;
}

/** The member, and the folder that it is in as a link of its own. */
function renderRow(texts: Texts, member: FoundMember, { order, isViewable }: SearchPage): SafeHtml {
  const { name, kind, size, modified, path, denied } = member;
  const isFolder = kind === "folder";
  const around = path.slice(0, -name.length);
  const isDenied = !isFolder && denied?.includes("download");
  const view = isViewable && !isFolder && !isDenied ? findInlineType(name)?.kind : undefined;
  const place = html` <a class="quiet" href="${toOrderedUrl(`./${toUrl(around)}`, order)}"><bdi>${around}</bdi></a>`;
  const link = renderLink(texts, member, { url: `./${toUrl(path)}`, order, end: "/" });
  const sizeCell = renderSizeCell(texts, size, html` class="size" data-label="${texts.size}"`);
  return html`<tr data-name="${name}"${isDenied ? html` data-denied="download"` : undefined}${view && html` data-view="${view}"`}><th scope="row">${link}${around === "" ? undefined : place}</th>${isFolder ? html`<td></td>` : sizeCell}<td class="modified" data-label="${texts.modified}">${renderRowTime(texts, new Date(modified))}</td></tr>
`;
}

/** A path with each name percent-encoded. */
function toUrl(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
