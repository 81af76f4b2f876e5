import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import { formatsOf } from "./formats.ts";
import { fileIcon, folderIcon, icon } from "./icons.ts";
import { type MemberOrder, type PageMember, SORT_KEYS, type SortKey } from "./member-order.ts";

/** What the rows of members offer. */
export interface RowActions {
  /** A box that selects the member for an action. */
  readonly isSelectable: boolean;
  /** A link to the form that renames the member. */
  readonly isRenamable: boolean;
}

/** Renders the table head. A click on a column sorts by it, and a click on the current column reverses the order. */
export function renderTableHead(texts: Texts, order: MemberOrder, { isSelectable, isRenamable }: RowActions): SafeHtml {
  const selection = html`<th scope="col" class="select"><span class="unseen">${texts.selection}</span><label class="box"><input type="checkbox" id="select-all" aria-label="${texts.selectAll}" hidden></label></th>`;
  const columns = SORT_KEYS.map((key) => renderColumn(texts, key, order));
  return html`<thead><tr>${isSelectable ? selection : undefined}${columns}${isRenamable ? html`<th scope="col" class="rename"><span class="unseen">${texts.rename}</span></th>` : undefined}</tr></thead>`;
}

function renderColumn(texts: Texts, key: SortKey, order: MemberOrder): SafeHtml {
  const isCurrent = key === order.key;
  const next = isCurrent && !order.isDescending ? "desc" : "asc";
  const link = html`<a href="?sort=${key}&amp;order=${next}">${texts[key]}${isCurrent ? icon(order.isDescending ? "down" : "up") : undefined}</a>`;
  const sort = isCurrent ? html` aria-sort="${order.isDescending ? "descending" : "ascending"}"` : undefined;
  return html`<th scope="col" class="${key}"${sort}>${link}${key === "modified" ? html` <small>UTC</small>` : undefined}</th>`;
}

/** Creates a function that renders the row of a member. */
export function createRowRenderer(
  texts: Texts,
  { isSelectable, isRenamable }: RowActions,
  selected: ReadonlySet<string> = new Set(),
): (member: PageMember) => SafeHtml {
  const formats = formatsOf(texts);
  const folder = folderIcon(texts.folder);

  function renderBox(name: string): SafeHtml {
    const label = fillText(texts.select, { name });
    return html`<td class="select"><label class="box"><input type="checkbox" name="selected-members" value="${name}" aria-label="${label}"${selected.has(name) ? html` checked` : undefined}></label></td>`;
  }

  function renderRenameLink(name: string): SafeHtml {
    const label = fillText(texts.renameMember, { name });
    return html`<td class="rename"><a href="?rename=${encodeURIComponent(name)}" aria-label="${label}">${texts.rename}</a></td>`;
  }

  return (member) => {
    const { name, kind, size } = member;
    const modified = new Date(member.modified);
    const isFolder = kind === "folder";
    const exact = modified.toISOString();
    // "./" keeps a name with a colon from being taken for a scheme (RFC 3986 4.2).
    const link = html`<a href="./${encodeURIComponent(name)}${isFolder ? "/" : ""}">${isFolder ? folder : fileIcon(name)}<bdi>${name}</bdi></a>`;
    const sizeCell = isFolder
      ? html`<td class="size"></td>`
      : html`<td class="size"><span title="${formats.exactSize(size)}">${formats.size(size)}</span></td>`;
    return html`<tr data-name="${name}" data-kind="${isFolder ? "folder" : "file"}">${isSelectable ? renderBox(name) : undefined}<th scope="row" class="name">${link}</th>${sizeCell}<td class="modified"><time datetime="${exact}" title="${exact.slice(0, 19).replace("T", " ")} UTC">${formats.time(modified)}</time></td>${isRenamable ? renderRenameLink(name) : undefined}</tr>
`;
  };
}
