import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import { type FolderActions, renderCopyOrMove, renderRename, toButton, toMemberActions } from "../folder-actions.ts";
import { formatsOf, renderTime } from "../formats.ts";
import { type PageMember, toOrderedUrl } from "../member-order.ts";
import { renderOpenLink } from "../open-link.ts";
import { type FolderPage, mayView } from "./content.ts";

/**
 * Renders the properties of one member and what can be done with it, for browsers without a script: its row links to
 * it. After a form to rename that failed, it has what was entered.
 */
export function renderMemberPanel(texts: Texts, folder: FolderPage): SafeHtml | undefined {
  const { members } = folder;
  const { rename, shown } = folder.entered ?? {};
  const member = members?.find(({ name }) => name === (rename?.name ?? shown));
  // The URL may come from an attacker: of it only names of members are shown.
  const name = rename?.name ?? member?.name;
  if (name === undefined) return undefined;
  const actions = member === undefined ? folder.actions : toMemberActions(folder.actions, member);
  const newName = rename?.newName ?? name;
  const url = toOrderedUrl("./", folder.order);
  return html`<section class="cards member" aria-labelledby="member-name">
<div class="card-head"><h2 id="member-name"><bdi>${name}</bdi></h2><a class="button" href="${url}">${texts.close}</a></div>
${member && renderProperties(texts, member, { ...folder, actions })}
${actions.move ? renderRename(texts, url, { name, newName }) : undefined}
${member && renderActions(texts, url, actions, member)}
</section>`;
}

function renderProperties(texts: Texts, { name, kind, size, modified }: PageMember, folder: FolderPage): SafeHtml {
  const { download, versions } = folder.actions;
  const formats = formatsOf(texts);
  const isFolder = kind === "folder";
  const encoded = encodeURIComponent(name);
  const url = `./${encoded}`;
  const openLink = html`<a class="button" href="${isFolder ? toOrderedUrl(`${url}/`, folder.order) : url}">${isFolder ? texts.open : texts.downloadFile}</a>`;
  const versionsLink = html` <a class="button" href="${versions}${encoded}">${texts.versions.list}</a>`;
  const sizeFact = html`<div><dt>${texts.size}</dt><dd>${formats.size(size)} (${formats.exactSize(size)})</dd></div>`;
  return html`<div class="properties"><dl class="facts">
<div><dt>${texts.kind}</dt><dd>${isFolder ? texts.folder : texts.file}</dd></div>
${isFolder ? undefined : sizeFact}
<div><dt>${texts.modified}</dt><dd>${renderTime(texts, new Date(modified), " UTC")}</dd></div>
</dl>
<p>${isFolder || !mayView(folder) ? undefined : renderOpenLink(texts, name)}${isFolder || download ? openLink : undefined}${isFolder || !download || versions === undefined ? undefined : versionsLink}</p></div>`;
}

/** The forms that selected members have, for this one. */
function renderActions(texts: Texts, url: string, actions: FolderActions, { name, kind }: PageMember): SafeHtml {
  const isFolder = kind === "folder";
  const triggers = actions.triggers.map(({ name: trigger, label, style }) => toButton(trigger, label, style));
  return html`<form method="post" action="${url}" enctype="multipart/form-data" aria-label="${fillText(texts.actionsFor, { name })}">
<input type="hidden" name="selected-members" value="${name}">
${actions.move || actions.copy ? renderCopyOrMove(texts, actions, "member-destination", "") : undefined}
<p class="buttons">
${isFolder && actions.download ? toButton("download-members", texts.download, "neutral") : undefined}
${actions.share === undefined ? undefined : toButton("share-members", texts.links.share, "neutral")}
${triggers}
${actions.delete ? toButton("delete-members", texts.delete, "danger") : undefined}
${actions.delete && actions.purge ? toButton("purge-members", texts.trash.purge, "danger") : undefined}
</p></form>`;
}
