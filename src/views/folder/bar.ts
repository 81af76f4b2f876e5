import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { hasUploadCard, renderNewFolder, renderUpload } from "../folder-actions.ts";
import { icon } from "../icons.ts";
import { type MemberOrder, SORT_KEYS, toOrderedUrl } from "../member-order.ts";
import type { FolderPage } from "./content.ts";
import { renderOrderFields } from "./order-fields.ts";
import { renderPlace } from "./place.ts";

/**
 * Renders the bar at the top of a folder: where the page is, and what can be done there. Its menus are `details`, which
 * open without a script.
 */
export function renderBar(texts: Texts, folder: FolderPage): SafeHtml {
  const { members = [], actions, link, order } = folder;
  const url = toOrderedUrl("./", order);
  const hasCard = hasUploadCard(folder);
  const newFolder = html`<details class="menu" id="create"><summary class="button">${icon("new-folder")}<span>${texts.newFolder}</span></summary>
<div class="panel">${renderNewFolder(texts, url, !actions.upload)}</div></details>`;
  const upload = html`<details class="menu" id="send"><summary class="button primary">${icon("upload")}<span>${texts.upload}</span></summary>
<div class="panel">${renderUpload(texts, url, link)}</div></details>`;
  return html`<div class="bar">
${renderPlace(texts, folder)}
<div class="tools">
${members.length > 0 ? renderFilter(texts, order) : undefined}
${members.length > 0 || actions.share !== undefined ? renderMore(texts, folder) : undefined}
${isForDownloads(folder) ? renderDownloadAll(texts, "button") : undefined}
${actions.createFolder && !hasCard ? newFolder : undefined}
${actions.upload && !hasCard ? upload : undefined}
</div>
</div>`;
}

/** The field searches below the folder. With the script it filters the members, too, while the user types. */
function renderFilter(texts: Texts, order: MemberOrder): SafeHtml {
  return html`<form id="search" role="search" method="get" action="./"><input type="search" id="filter" name="q" aria-label="${texts.search}" placeholder="${texts.search}" data-label="${texts.filter}" maxlength="255" autocomplete="off" spellcheck="false" dir="auto">${renderOrderFields(order)}</form>`;
}

/** The menu for how the members are shown, and for what is done with all of them. */
function renderMore(texts: Texts, folder: FolderPage): SafeHtml {
  const { order, actions, members = [] } = folder;
  const { links } = texts;
  const share = html`<a href="${actions.share}" aria-label="${links.shareFolder}">${icon("out")}${links.share}</a>`;
  return html`<details class="menu" id="more"><summary class="button"><span class="unseen">${texts.moreActions}</span>${icon("more")}</summary>
<div class="panel">
${mayDownloadAll(folder) && !isForDownloads(folder) ? renderDownloadAll(texts) : undefined}
${actions.share === undefined ? undefined : share}
${members.length > 0 ? renderViewOptions(texts, order) : undefined}
</div></details>`;
}

/** Whether the page offers an archive of all that it shows. */
function mayDownloadAll({ members = [], actions }: FolderPage): boolean {
  return actions.download && members.length > 0;
}

/** Whether visitors come here for the files alone: then the archive of all is the page's main action. */
function isForDownloads(folder: FolderPage): boolean {
  const { link, actions } = folder;
  return link !== undefined && mayDownloadAll(folder) && !actions.upload && !actions.createFolder;
}

/** The archive of all that the page shows: a button, or an item of the menu. */
function renderDownloadAll(texts: Texts, className?: "button"): SafeHtml {
  return html`<a href="?zip" id="download-all"${className && html` class="${className}"`}>${icon("download")}<span>${texts.downloadAll}</span></a>`;
}

/** The script shows the choice of the height, which it remembers. */
function renderViewOptions(texts: Texts, order: MemberOrder): SafeHtml {
  const sorts = SORT_KEYS.map((key) => {
    const isCurrent = key === order.key;
    const next = isCurrent && !order.isDescending ? "desc" : "asc";
    const arrow = isCurrent ? icon(order.isDescending ? "down" : "ascending") : undefined;
    return html`<a href="?sort=${key}&amp;order=${next}"${isCurrent ? html` aria-current="true"` : undefined}>${texts[key]}${arrow}</a>`;
  });
  return html`<p>${texts.sortBy}</p>
${sorts}
<fieldset id="rows" hidden><legend>${texts.rows}</legend>
<label><input type="radio" name="rows" value="compact" checked>${texts.compact}</label>
<label><input type="radio" name="rows" value="comfortable">${texts.comfortable}</label>
</fieldset>`;
}
