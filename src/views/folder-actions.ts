import type { Texts } from "../contracts/pages/texts.ts";
import type { TriggerStyle } from "../contracts/trigger.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import { type PageLink, renderMaxFileSize, renderSender } from "./visitor-parts.ts";

/** The actions that the page of a folder offers. */
export interface FolderActions {
  readonly upload: boolean;
  readonly createFolder: boolean;
  readonly download: boolean;
  readonly delete: boolean;
  /** Removing members for good. Without a trash, `delete` does that. */
  readonly purge?: boolean;
  /** Renaming a member, and moving members to another folder. */
  readonly move: boolean;
  readonly copy: boolean;
  /** The URL of the page for a new link to the folder. Absent: the account may not have links. */
  readonly share?: string;
  readonly triggers: readonly TriggerButton[];
}

/** The button of a trigger. */
export interface TriggerButton {
  readonly name: string;
  readonly label: string;
  readonly style: TriggerStyle;
}

/** Whether the page offers any action on selected members. */
export function mayActOnMembers({ download, delete: mayDelete, move, copy, share, triggers }: FolderActions): boolean {
  return download || mayDelete || move || copy || share !== undefined || triggers.length > 0;
}

/** What the user has entered in a form that failed. */
export interface EnteredValues {
  /** The form that renames a member. Also shown if a link asks for it. */
  readonly rename?: { readonly name: string; readonly newName: string };
  /** The folder that members were to be moved or copied to. */
  readonly destination?: string;
  /** The name of who sends files. */
  readonly sender?: string;
  /** The selected members. */
  readonly selected?: ReadonlySet<string>;
}

/** Renders the form that renames a member. Browsers with a script show a dialog instead. */
export function renderRename(texts: Texts, { name, newName }: NonNullable<EnteredValues["rename"]>): SafeHtml {
  return html`<div class="tools">
<form id="rename" method="post" action="./" enctype="multipart/form-data">
<input type="hidden" name="action" value="rename-member">
<input type="hidden" name="selected-members" value="${name}">
<label for="new-name">${fillText(texts.newName, { name })}</label>
<input id="new-name" name="new-name" value="${newName}" autocomplete="off" spellcheck="false" dir="auto" maxlength="255" required autofocus><button class="primary">${texts.rename}</button><a class="button" href="./">${texts.cancel}</a>
</form>
</div>`;
}

/**
 * Renders the forms that upload files and create a folder. The field `action` comes before the files, so that the
 * service knows the action when the files arrive.
 */
export function renderTools(
  texts: Texts,
  { upload, createFolder }: FolderActions,
  link?: PageLink,
  sender?: string,
): SafeHtml | undefined {
  if (!upload && !createFolder) return undefined;
  const uploadForm = html`<form id="upload" method="post" action="./" enctype="multipart/form-data">
<input type="hidden" name="action" value="upload-file">
${link?.asksName ? renderSender(texts, sender) : undefined}<label for="upload-file">${texts.uploadFiles}</label>
<input id="upload-file" type="file" name="upload-file" multiple required><button class="primary">${texts.upload}</button>
${link && renderMaxFileSize(texts, link)}</form>`;
  const folderForm = html`<form id="new-folder" method="post" action="./" enctype="multipart/form-data">
<input type="hidden" name="action" value="create-folder">
<label for="new-folder-name">${texts.newFolder}</label>
<input id="new-folder-name" name="new-folder" autocomplete="off" spellcheck="false" dir="auto" maxlength="255" required><button>${texts.createFolder}</button>
</form>`;
  return html`<div class="tools">
${upload ? uploadForm : undefined}
${createFolder ? folderForm : undefined}
</div>`;
}

/** Renders the buttons for the selected members. */
export function renderMemberActions(texts: Texts, actions: FolderActions, destination = ""): SafeHtml {
  const triggers = actions.triggers.map(({ name, label, style }) => toButton(name, label, style));
  return html`<div class="selected" role="group" aria-label="${texts.withSelected}">
<span aria-hidden="true">${texts.withSelected}</span>
${actions.download ? toButton("download-members", texts.download, "neutral") : undefined}
${actions.share === undefined ? undefined : toButton("share-members", texts.links.share, "neutral")}
${triggers}
${actions.delete ? toButton("delete-members", texts.delete, "danger") : undefined}
${actions.delete && actions.purge ? toButton("purge-members", texts.trash.purge, "danger") : undefined}
${actions.move || actions.copy ? renderTransfers(texts, actions, destination) : undefined}
</div>`;
}

/** One field for the folder, and the buttons that move or copy the selected members to it. */
function renderTransfers(texts: Texts, { move, copy }: FolderActions, destination: string): SafeHtml {
  return html`<div class="to-folder"><label for="destination">${texts.destination}</label>
<input id="destination" name="destination" value="${destination}" placeholder="/" autocomplete="off" spellcheck="false" dir="auto">
${move ? toButton("move-members", texts.move, "neutral") : undefined}
${copy ? toButton("copy-members", texts.copy, "neutral") : undefined}
</div>`;
}

function toButton(name: string, label: string, style: TriggerStyle): SafeHtml {
  return html`<button name="action" value="${name}" class="${style}" data-members-action>${label}</button>
`;
}
