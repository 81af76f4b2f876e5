import type { MemberAction } from "../contracts/pages/member-action.ts";
import type { Texts } from "../contracts/pages/texts.ts";
import type { TriggerStyle } from "../contracts/trigger.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import type { PageMember } from "./member-order.ts";
import { type PageLink, renderMaxFileSize, renderSender } from "./visitor-parts.ts";

/** The actions that the page of a folder offers, on some members at least. */
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
  /** The URL of the page with the versions of a file in the folder, up to its name. Absent: there is none. */
  readonly versions?: string;
  readonly triggers: readonly TriggerButton[];
}

/** Returns the actions of a page that are left on a member. */
export function toMemberActions({ share, ...actions }: FolderActions, { denied = [] }: PageMember): FolderActions {
  const isLeft = (action: MemberAction): boolean => !denied.includes(action);
  return {
    ...actions,
    download: actions.download && isLeft("download"),
    move: actions.move && isLeft("move"),
    copy: actions.copy && isLeft("copy"),
    delete: actions.delete && isLeft("delete"),
    ...(share !== undefined && isLeft("share") && { share }),
  };
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
  /** The member whose properties and forms are shown, because the link of its row asks for it. */
  readonly shown?: string;
  /** The form that renames a member. */
  readonly rename?: { readonly name: string; readonly newName: string };
  /** The folder that members were to be moved or copied to. */
  readonly destination?: string;
  /** The name of who sends files. */
  readonly sender?: string;
  /** The selected members. */
  readonly selected?: ReadonlySet<string>;
}

/**
 * Renders the form that renames a member. Browsers with a script show a dialog instead. `url`, here and below: that of
 * the page, where its forms go.
 */
export function renderRename(
  texts: Texts,
  url: string,
  { name, newName }: NonNullable<EnteredValues["rename"]>,
): SafeHtml {
  return html`<form id="rename" method="post" action="${url}" enctype="multipart/form-data">
<input type="hidden" name="action" value="rename-member">
<input type="hidden" name="selected-members" value="${name}">
<label for="new-name">${fillText(texts.newName, { name })}</label>
<input id="new-name" name="new-name" value="${newName}" autocomplete="off" spellcheck="false" dir="auto" maxlength="255" required><button>${texts.rename}</button>
</form>`;
}

/**
 * Whether the forms have a card on the page in place of menus in its bar: where files can only be sent, and where who
 * sends them has to say a name.
 */
export function hasUploadCard({
  members,
  link,
}: {
  readonly members: readonly unknown[] | undefined;
  readonly link?: PageLink | undefined;
}): boolean {
  return members === undefined || link?.asksName === true;
}

/** Renders the card with the forms that upload files and create a folder. */
export function renderUploadCard(
  texts: Texts,
  url: string,
  { upload, createFolder }: FolderActions,
  link?: PageLink,
  sender?: string,
): SafeHtml | undefined {
  if (!upload && !createFolder) return undefined;
  return html`<div class="cards">
${upload ? renderUpload(texts, url, link, sender) : undefined}
${createFolder ? renderNewFolder(texts, url, !upload) : undefined}
</div>`;
}

/** The field `action` comes before the files, so that the service knows the action when the files arrive. */
export function renderUpload(texts: Texts, url: string, link?: PageLink, sender?: string): SafeHtml {
  return html`<form id="upload" method="post" action="${url}" enctype="multipart/form-data">
<input type="hidden" name="action" value="upload-file">
${link?.asksName ? renderSender(texts, sender) : undefined}<label for="upload-file">${texts.uploadFiles}</label>
<input id="upload-file" type="file" name="upload-file" multiple required><button class="primary">${texts.upload}</button>
${link && renderMaxFileSize(texts, link)}</form>`;
}

/** Renders the form that creates a folder. `isMain`: whether that is the main action of the page. */
export function renderNewFolder(texts: Texts, url: string, isMain: boolean): SafeHtml {
  return html`<form id="new-folder" method="post" action="${url}" enctype="multipart/form-data">
<input type="hidden" name="action" value="create-folder">
<label for="new-folder-name">${texts.newFolder}</label>
<input id="new-folder-name" name="new-folder" autocomplete="off" spellcheck="false" dir="auto" maxlength="255" required><button${isMain ? html` class="primary"` : undefined}>${texts.createFolder}</button>
</form>`;
}

/**
 * Renders what Enter does in the form of the members, which else would be its first button: it deletes or downloads.
 * Enter moves or copies to the folder of the field; without the field it does nothing, as there is no dialog to close.
 */
export function renderDefaultAction({ move, copy }: FolderActions): SafeHtml {
  const action = html`name="action" value="${move ? "move" : "copy"}-members"`;
  return html`<input type="submit" ${move || copy ? action : html`formmethod="dialog"`} hidden>`;
}

/** Renders the bar with the actions on selected members. It stays in sight; with a script, only while some are. */
export function renderMemberActions(texts: Texts, actions: FolderActions, destination = ""): SafeHtml {
  const triggers = actions.triggers.map(({ name, label, style }) => toButton(name, label, style));
  return html`<div class="selected" role="group" aria-label="${texts.withSelected}">
<span class="count">${texts.withSelected}</span>
${actions.download ? toButton("download-members", texts.download, "neutral") : undefined}
${actions.share === undefined ? undefined : toButton("share-members", texts.links.share, "neutral")}
${triggers}
${actions.delete ? toButton("delete-members", texts.delete, "danger") : undefined}
${actions.delete && actions.purge ? toButton("purge-members", texts.trash.purge, "danger") : undefined}
${actions.move || actions.copy ? renderCopyOrMoveMenu(texts, actions, destination) : undefined}
</div>`;
}

function renderCopyOrMoveMenu(texts: Texts, actions: FolderActions, destination: string): SafeHtml {
  return html`<details class="menu" id="to-folder"${destination === "" ? undefined : html` open`}><summary class="button">${texts.moveOrCopy}</summary>
<div class="panel">${renderCopyOrMove(texts, actions, "destination", destination)}</div></details>`;
}

/** One field for the folder, and the buttons that move or copy members to it. */
export function renderCopyOrMove(texts: Texts, { move, copy }: FolderActions, id: string, entered: string): SafeHtml {
  return html`<label for="${id}">${texts.destination}</label>
<input id="${id}" name="destination" value="${entered}" placeholder="/" autocomplete="off" spellcheck="false" dir="auto">
${move ? toButton("move-members", texts.move, "neutral") : undefined}
${copy ? toButton("copy-members", texts.copy, "neutral") : undefined}`;
}

export function toButton(name: string, label: string, style: TriggerStyle): SafeHtml {
  return html`<button name="action" value="${name}" class="${style}" data-members-action>${label}</button>
`;
}

/** The names of the actions that the page offers, for its script (`data-may`). */
export function toOffers(actions: FolderActions): readonly string[] {
  const offers = {
    upload: actions.upload,
    download: actions.download,
    move: actions.move,
    copy: actions.copy,
    share: actions.share !== undefined,
    delete: actions.delete,
    purge: actions.delete && actions.purge === true,
  };
  return Object.entries(offers).flatMap(([name, isOffered]) => (isOffered ? [name] : []));
}
