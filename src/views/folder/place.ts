import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import { formatsOf } from "../formats.ts";
import { icon } from "../icons.ts";
import { type PageMember, toOrderedUrl } from "../member-order.ts";
import type { FolderPage } from "./content.ts";

/** The maximum number of parent folders in the breadcrumbs, besides the home folder: a phone has room for them. */
const MAX_CRUMBS = 5;

/** Renders where the page is: the way up, the breadcrumbs, the folder's name as the heading, and what is in it. */
export function renderPlace(texts: Texts, folder: FolderPage): SafeHtml {
  const { segments, members } = folder;
  const title = segments.at(-1) ?? toRootName(texts, folder);
  return html`<div class="place">
${segments.length > 0 ? renderUp(texts, folder) : undefined}${renderCrumbs(texts, folder)}
<h1 title="${title}"><bdi>${title}</bdi></h1>
<p class="summary">${members === undefined ? undefined : toSummary(texts, members)}</p>
</div>`;
}

/** The name of the root folder. */
export function toRootName(texts: Texts, { link }: FolderPage): string {
  return link === undefined || link.name === "" ? texts.home : link.name;
}

function renderUp(texts: Texts, folder: FolderPage): SafeHtml {
  const label = fillText(texts.up, { name: folder.segments.at(-2) ?? toRootName(texts, folder) });
  return html`<a class="button bare" id="up" href="${toOrderedUrl("../", folder.order)}" aria-label="${label}" title="${label}">${icon("up")}</a>`;
}

/** Renders the breadcrumbs of the parent folders. The folder itself is the heading. */
function renderCrumbs(texts: Texts, folder: FolderPage): SafeHtml | undefined {
  const { segments } = folder;
  if (segments.length === 0) return undefined;
  const above = segments.slice(0, -1);
  const nearest = above.slice(-MAX_CRUMBS);
  const toItem = (name: string, levels: number): SafeHtml =>
    html`<li><a href="${toOrderedUrl("../".repeat(levels), folder.order)}" title="${name}"><bdi>${name}</bdi></a></li>`;
  const items = [
    toItem(toRootName(texts, folder), segments.length),
    nearest.length < above.length ? html`<li>…</li>` : undefined,
    nearest.map((name, index) => toItem(name, nearest.length - index)),
  ];
  return html`<nav class="crumbs" aria-label="${texts.folderPath}"><ol>${items}</ol></nav>`;
}

/** The number of the members and the size of the files among them, such as `5,000 items, 10.2 GB`. */
function toSummary(texts: Texts, members: readonly PageMember[]): string | undefined {
  if (members.length === 0) return undefined;
  const { count, size } = formatsOf(texts);
  const items = members.length === 1 ? texts.itemsOne : fillText(texts.items, { count: count(members.length) });
  const files = members.filter(({ kind }) => kind !== "folder");
  if (files.length === 0) return items;
  return `${items}, ${size(files.reduce((sum, file) => sum + file.size, 0))}`;
}
