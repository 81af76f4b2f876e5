import type { MemberAction } from "../../contracts/pages/member-action.ts";
import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import { type FolderActions, toOffers } from "../folder-actions.ts";
import { renderRowTime, renderSizeCell } from "../formats.ts";
import { icon, toFileKind } from "../icons.ts";
import { findInlineType } from "../inline-types.ts";
import { type MemberOrder, type PageMember, SORT_KEYS, type SortKey, toOrderedUrl } from "../member-order.ts";
import { renderVersionsLink } from "./versions-link.ts";

/** What the rows of members offer. */
export interface RowActions {
  /** How the page is sorted: folders open in the same order. */
  readonly order: MemberOrder;
  /** A box that selects the member for an action. */
  readonly isSelectable: boolean;
  /** Whether the script opens files in the page. */
  readonly isViewable: boolean;
  /** What the page offers. */
  readonly actions: FolderActions;
}

/**
 * The rows are in several `tbody`. Browsers do not lay out those that are out of sight, so that a folder with many
 * members is shown as soon as one with few.
 */
export const ROWS_PER_CHUNK = 100;
export const CHUNK_END = html`</tbody>
<tbody>
`;

const SIZE = html` class="size"`;
const NO_SIZE = html`<td class="size"></td>`;

/** Renders the table head. A click on a column sorts by it, and a click on the current column reverses the order. */
export function renderTableHead(texts: Texts, order: MemberOrder, isSelectable: boolean): SafeHtml {
  const selection = html`<th scope="col" class="select"><span class="unseen">${texts.selection}</span><label class="box"><input type="checkbox" id="select-all" aria-label="${texts.selectAll}" hidden></label></th>`;
  const columns = SORT_KEYS.map((key) => renderColumn(texts, key, order));
  return html`<thead><tr>${isSelectable ? selection : undefined}${columns}<th scope="col" class="more"><span class="unseen">${texts.actions}</span></th></tr></thead>`;
}

function renderColumn(texts: Texts, key: SortKey, order: MemberOrder): SafeHtml {
  const isCurrent = key === order.key;
  const next = isCurrent && !order.isDescending ? "desc" : "asc";
  const link = html`<a href="?sort=${key}&amp;order=${next}">${texts[key]}${isCurrent ? icon(order.isDescending ? "down" : "ascending") : undefined}</a>`;
  const sort = isCurrent ? html` aria-sort="${order.isDescending ? "descending" : "ascending"}"` : undefined;
  return html`<th scope="col" class="${key}"${sort}>${link}${key === "modified" ? html` <small>UTC</small>` : undefined}</th>`;
}

/**
 * Renders the link to a member, which opens folders in an order. The style sheet gives the link a direction of its own,
 * so that the characters of a name cannot change that of other texts. `end` follows the name of a folder.
 */
export function renderLink(
  texts: Texts,
  { name, kind }: PageMember,
  { url, order, end }: { readonly url: string; readonly order: MemberOrder; readonly end?: string },
): SafeHtml {
  if (kind !== "folder") return html`<a class="${toFileKind(name)}" href="${url}">${name}</a>`;
  const shown = end === undefined ? name : html`<bdi>${name}</bdi>${end}`;
  return html`<a class="folder" href="${toOrderedUrl(`${url}/`, order)}"><i role="img" aria-label="${texts.folder}"></i>${shown}</a>`;
}

/** Creates a function that renders the row of a member. */
export function createRowRenderer(
  texts: Texts,
  { order, isSelectable, isViewable, actions }: RowActions,
  selected: ReadonlySet<string> = new Set(),
): (member: PageMember) => SafeHtml {
  const { versions } = actions;
  const offers = toOffers(actions);

  function renderBox(name: string): SafeHtml {
    const label = fillText(texts.select, { name });
    return html`<td class="select"><input type="checkbox" name="selected-members" value="${name}" aria-label="${label}"${selected.has(name) ? html` checked` : undefined}></td>`;
  }

  /** A link to what can be done with the member. The script opens a menu instead. */
  function renderMore(name: string): SafeHtml {
    const label = fillText(texts.actionsFor, { name });
    return html`<td class="more"><a href="${toOrderedUrl(`?member=${encodeURIComponent(name)}`, order)}" aria-label="${label}"></a></td>`;
  }

  function renderModified({ name, modified }: PageMember, hasVersions: boolean): SafeHtml {
    const time = renderRowTime(texts, new Date(modified));
    const link = hasVersions ? renderVersionsLink(texts, `${versions}${encodeURIComponent(name)}`, name, time) : time;
    return html`<td class="modified">${link}</td>`;
  }

  /** What of the page's actions is denied on a member, and whether a file cannot be read. */
  function renderDenied(denied: readonly MemberAction[]): SafeHtml | undefined {
    const names = denied.filter((action) => action === "download" || offers.includes(action));
    return names.length === 0 ? undefined : html` data-denied="${names.join(" ")}"`;
  }

  return (member) => {
    const { name, kind, size, denied = [] } = member;
    const isFolder = kind === "folder";
    const isReadable = !isFolder && !denied.includes("download");
    const view = isViewable && isReadable ? findInlineType(name)?.kind : undefined;
    // "./" keeps a name with a colon from being taken for a scheme (RFC 3986 4.2).
    const link = renderLink(texts, member, { url: `./${encodeURIComponent(name)}`, order });
    return html`<tr data-name="${name}" data-kind="${isFolder ? "folder" : "file"}"${renderDenied(denied)}${view && html` data-view="${view}"`}>${isSelectable ? renderBox(name) : undefined}<th scope="row" class="name">${link}</th>${isFolder ? NO_SIZE : renderSizeCell(texts, size, SIZE)}${renderModified(member, isReadable && versions !== undefined)}${renderMore(name)}</tr>
`;
  };
}
