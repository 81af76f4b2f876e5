import type { LinkPermission } from "../../contracts/links.ts";
import type { LinkTexts, Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { renderSeconds } from "../formats.ts";

/** What each permission is called for a folder, and for a file. */
const NAMES: Readonly<Record<LinkPermission, readonly [folder: keyof LinkTexts, file: keyof LinkTexts]>> = {
  "allow-read": ["mayRead", "mayReadFile"],
  "allow-list": ["mayList", "mayList"],
  "allow-traverse": ["mayTraverse", "mayTraverse"],
  "allow-write": ["mayWrite", "mayWriteFile"],
  "allow-create-folder": ["mayCreateFolder", "mayCreateFolder"],
  "allow-delete-file": ["mayDeleteFile", "mayReplaceFile"],
  "allow-delete-folder": ["mayDeleteFolder", "mayDeleteFolder"],
};

/** What a permission is called. */
export function toPermissionText({ links }: Texts, permission: LinkPermission, isFolder: boolean): string {
  return links[NAMES[permission][isFolder ? 0 : 1]];
}

/** Renders what a link permits as a list. */
export function renderPermissions(texts: Texts, { permissions, is_directory: isFolder }: LinkBody): SafeHtml {
  return html`<ul>${permissions.map((permission) => html`<li>${toPermissionText(texts, permission, isFolder)}</li>`)}</ul>`;
}

/** Renders when a link ends. */
export function renderEnd(texts: Texts, { expires }: LinkBody): SafeHtml {
  return renderSeconds(texts, expires);
}

/** A field with a URL, and what it is called. */
export interface UrlField {
  readonly id: string;
  readonly url: string;
  readonly label: string;
  /** Whether only screen readers have the label. Default: false. */
  readonly isLabelHidden?: boolean;
  /** The accessible name of the button, if there are several on the page. */
  readonly buttonLabel?: string;
}

/** Renders a field to copy a URL from. The script of the page shows the button, which does nothing without it. */
export function renderUrl({ links }: Texts, { id, url, label, isLabelHidden, buttonLabel }: UrlField): SafeHtml {
  const name = isLabelHidden
    ? html`<label for="${id}" class="unseen">${label}</label>`
    : html`<label for="${id}">${label}</label>`;
  const ofButton = buttonLabel === undefined ? undefined : html` aria-label="${buttonLabel}"`;
  return html`<div class="url">${name}<div class="url-field"><input id="${id}" value="${url}" readonly dir="ltr" autocomplete="off" spellcheck="false"><button type="button" data-copy="${id}" data-copied="${links.copied}"${ofButton} hidden>${links.copy}</button></div></div>`;
}

/** Renders the form that withdraws a link. `path`: the URL path of the list. */
export function renderWithdraw({ links }: Texts, path: string, { id }: LinkBody, label?: string): SafeHtml {
  const ofButton = label === undefined ? undefined : html` aria-label="${label}"`;
  return html`<form method="post" action="${path}/${id}"><button name="action" value="withdraw" class="danger"${ofButton}>${links.withdraw}</button></form>`;
}
