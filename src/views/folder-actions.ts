import type { Texts } from "../contracts/texts.ts";
import type { TriggerStyle } from "../contracts/trigger.ts";
import { html, type SafeHtml } from "../http/html.ts";

/** The actions that the page of a folder offers. */
export interface FolderActions {
  readonly upload: boolean;
  readonly createFolder: boolean;
  readonly download: boolean;
  readonly delete: boolean;
  readonly triggers: readonly TriggerButton[];
}

/** The button of a trigger. */
export interface TriggerButton {
  readonly name: string;
  readonly label: string;
  readonly style: TriggerStyle;
}

/** Whether the page offers any action on selected members. */
export function mayActOnMembers({ download, delete: mayDelete, triggers }: FolderActions): boolean {
  return download || mayDelete || triggers.length > 0;
}

/**
 * Renders the forms that upload files and create a folder. The field `action` comes before the files, so that the
 * service knows the action when the files arrive.
 */
export function renderTools(texts: Texts, { upload, createFolder }: FolderActions): SafeHtml | undefined {
  if (!upload && !createFolder) return undefined;
  const uploadForm = html`<form id="upload" method="post" action="./" enctype="multipart/form-data">
<input type="hidden" name="action" value="upload-file">
<label for="upload-file">${texts.uploadFiles}</label>
<input id="upload-file" type="file" name="upload-file" multiple required><button class="primary">${texts.upload}</button>
</form>`;
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
export function renderMemberActions(texts: Texts, actions: FolderActions): SafeHtml {
  const triggers = actions.triggers.map(({ name, label, style }) => toButton(name, label, style));
  return html`<div class="selected" role="group" aria-label="${texts.withSelected}">
<span aria-hidden="true">${texts.withSelected}</span>
${actions.download ? toButton("download-members", texts.download, "neutral") : undefined}
${triggers}
${actions.delete ? toButton("delete-members", texts.delete, "danger") : undefined}
</div>`;
}

function toButton(name: string, label: string, style: TriggerStyle): SafeHtml {
  return html`<button name="action" value="${name}" class="${style}" data-members-action>${label}</button>
`;
}
