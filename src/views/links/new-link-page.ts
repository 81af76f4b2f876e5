import type { LinkPermission } from "../../contracts/links.ts";
import type { LinkTexts, Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import { formatsOf } from "../formats.ts";
import { ICONS } from "../icons.ts";
import { card, type Page, type PageContext } from "../page.ts";
import { type ShownError, toErrorText } from "../texts.ts";
import { toPermissionText } from "./link-parts.ts";

/** What the user has entered in a form that failed. It has no password. */
export interface EnteredLink {
  readonly permissions: readonly string[];
  readonly expires_in?: string | undefined;
  readonly max_uses?: string | undefined;
  readonly max_file_bytes?: string | undefined;
  readonly ask_name?: string | undefined;
  readonly label?: string | undefined;
}

/** What the page with the form for a new link shows. */
export interface NewLinkPage {
  /** The URL that the form is sent to. */
  readonly action: string;
  /** The URL of the page, with the path in its query. */
  readonly self: string;
  readonly path: string;
  /** The name of the file or folder. Absent: the account's root. */
  readonly name: string | undefined;
  readonly isFolder: boolean;
  /** The URL of the folder that the cancel button opens. */
  readonly back: string;
  /** The permissions that the account may give. */
  readonly offered: readonly LinkPermission[];
  readonly maxSeconds: number;
  readonly defaultSeconds: number;
  readonly needsPassword: boolean;
  /** Whether uses can be limited. */
  readonly hasUses: boolean;
  /** Why the last form has failed. */
  readonly error?: ShownError | undefined;
  readonly entered?: EnteredLink | undefined;
}

/** Proposals for the permissions: one click in place of several. */
const FOLDER_PURPOSES: readonly (readonly [keyof LinkTexts, readonly LinkPermission[]])[] = [
  ["toDownload", ["allow-read", "allow-list"]],
  ["toDrop", ["allow-write"]],
  ["toExchange", ["allow-read", "allow-list", "allow-write"]],
  [
    "toWorkTogether",
    ["allow-read", "allow-list", "allow-write", "allow-create-folder", "allow-delete-file", "allow-delete-folder"],
  ],
];
const FILE_PURPOSES: typeof FOLDER_PURPOSES = [
  ["toDownloadFile", ["allow-read"]],
  ["toUpdateFile", ["allow-read", "allow-write", "allow-delete-file"]],
];

const FOLDER_HINTS: Readonly<Partial<Record<LinkPermission, keyof LinkTexts>>> = {
  "allow-traverse": "traverseHint",
  "allow-write": "writeHint",
  "allow-delete-file": "deleteFileHint",
  "allow-delete-folder": "deleteFolderHint",
};
const FILE_HINTS: typeof FOLDER_HINTS = { "allow-write": "writeFileHint" };

const DAY = 86_400;
const DURATIONS: readonly number[] = [DAY, 7 * DAY, 30 * DAY, 365 * DAY];
const FILE_SIZES: readonly number[] = [10e6, 100e6, 1e9, 10e9];

/** The page with the form for a new link. All of it works without a script. */
export function toNewLinkPage(context: PageContext, page: NewLinkPage): Page {
  const { texts } = context;
  const { links } = texts;
  const { name = texts.home, error, action, path, back, offered, hasUses, entered } = page;
  const title = fillText(links.newLink, { name });
  const alert = error && html`<p role="alert" class="notice problem">${toErrorText(texts, error)}</p>`;
  const mayWrite = offered.includes("allow-write");
  const isMoreOpen = [entered?.label, entered?.max_uses, entered?.max_file_bytes, entered?.ask_name].some(Boolean);
  const content = card(html`<h1>${title}</h1>
${alert}
<p>${links.newLinkHint}</p>
${renderPurposes(texts, page)}
<form method="post" action="${action}" class="new-link">
<input type="hidden" name="path" value="${path}">
${renderPermissionBoxes(texts, page)}
${renderDuration(texts, page)}
${renderPassword(texts, page)}
<details${isMoreOpen ? html` open` : undefined}><summary>${links.more}</summary>
<p class="field"><label for="label">${links.label}</label>
<input id="label" name="label" value="${entered?.label}" maxlength="200" autocomplete="off" dir="auto" aria-describedby="label-hint">
<span id="label-hint" class="quiet">${links.labelHint}</span></p>
${hasUses ? renderMaxUses(texts, page) : undefined}
${mayWrite ? renderUploadFields(texts, page) : undefined}
</details>
<p class="buttons"><button class="primary">${links.create}</button> <a class="button" href="${back}">${texts.cancel}</a></p>
</form>`);
  return { title, content: html`${content}${ICONS}` };
}

/** Links to the same page with other permissions: forms cannot choose several boxes without a script. */
function renderPurposes(texts: Texts, page: NewLinkPage): SafeHtml | undefined {
  const purposes = purposesOf(page);
  if (purposes.length < 2) return undefined;
  const items = purposes.map(([name, needed]) => {
    const isCurrent = isChosen(page, needed);
    const query = needed.map((permission) => `&permissions=${permission}`).join("");
    return html`<li><a class="button" href="${page.self}${query}"${isCurrent ? html` aria-current="true"` : undefined}>${texts.links[name]}</a></li>`;
  });
  return html`<nav class="purposes" aria-label="${texts.links.purpose}"><p aria-hidden="true">${texts.links.purpose}</p><ul>${items}</ul></nav>`;
}

function purposesOf({ isFolder, offered }: NewLinkPage): typeof FOLDER_PURPOSES {
  return (isFolder ? FOLDER_PURPOSES : FILE_PURPOSES).filter(([, needed]) =>
    needed.every((permission) => offered.includes(permission)),
  );
}

function isChosen(page: NewLinkPage, needed: readonly LinkPermission[]): boolean {
  const chosen = chosenOf(page);
  return needed.length === chosen.length && needed.every((permission) => chosen.includes(permission));
}

/** Whether the page proposes what is chosen. Then the single permissions need not be seen. */
function isProposed(page: NewLinkPage): boolean {
  const purposes = purposesOf(page);
  return purposes.length > 1 && purposes.some(([, needed]) => isChosen(page, needed));
}

/** The permissions that are chosen at first: those of the service's default, or of the query or the last form. */
function chosenOf({ isFolder, offered, entered }: NewLinkPage): readonly LinkPermission[] {
  const wanted: readonly string[] = entered?.permissions ?? (isFolder ? ["allow-read", "allow-list"] : ["allow-read"]);
  return offered.filter((permission) => wanted.includes(permission));
}

function renderPermissionBoxes(texts: Texts, page: NewLinkPage): SafeHtml {
  const { isFolder, offered } = page;
  const chosen = chosenOf(page);
  const boxes = offered.map((permission) => {
    const hint = (isFolder ? FOLDER_HINTS : FILE_HINTS)[permission];
    const described = hint && html` aria-describedby="${permission}-hint"`;
    return html`<div class="choice"><input type="checkbox" id="${permission}" name="permissions" value="${permission}"${chosen.includes(permission) ? html` checked` : undefined}${described}>
<label for="${permission}">${toPermissionText(texts, permission, isFolder)}</label>
${hint && html`<span id="${permission}-hint" class="quiet">${texts.links[hint]}</span>`}</div>`;
  });
  const { permissions } = texts.links;
  const given = chosen.map((permission) => toPermissionText(texts, permission, isFolder)).join(", ");
  return html`<details${isProposed(page) ? undefined : html` open`}><summary>${permissions}: <small>${given}</small></summary>
<fieldset aria-label="${permissions}">
${boxes}
</fieldset></details>`;
}

function renderDuration(texts: Texts, { maxSeconds, defaultSeconds, entered }: NewLinkPage): SafeHtml {
  const selected = toCount(entered?.expires_in) ?? defaultSeconds;
  const all = [...DURATIONS, defaultSeconds, selected].filter((seconds) => seconds <= maxSeconds);
  const options = toOptions(all.length === 0 ? [maxSeconds] : all, selected, formatsOf(texts).duration);
  return html`<p class="field"><label for="expires_in">${texts.links.expiresIn}</label>
<select id="expires_in" name="expires_in">${options}</select></p>`;
}

function renderPassword({ links }: Texts, { needsPassword }: NewLinkPage): SafeHtml {
  return html`<p class="field"><label for="password">${links.password}</label>
<input id="password" name="password" type="password" autocomplete="new-password" aria-describedby="password-hint"${needsPassword ? html` required` : undefined}>
<span id="password-hint" class="quiet">${needsPassword ? links.passwordNeeded : links.passwordHint}</span></p>`;
}

function renderMaxUses({ links }: Texts, { entered }: NewLinkPage): SafeHtml {
  return html`<p class="field"><label for="max_uses">${links.maxUses}</label>
<input id="max_uses" name="max_uses" type="number" inputmode="numeric" min="1" max="1000000" value="${entered?.max_uses}" aria-describedby="max_uses-hint">
<span id="max_uses-hint" class="quiet">${links.maxUsesHint}</span></p>`;
}

function renderUploadFields(texts: Texts, { entered }: NewLinkPage): SafeHtml {
  const { links } = texts;
  const selected = toCount(entered?.max_file_bytes);
  const sizes = selected === undefined ? FILE_SIZES : [...FILE_SIZES, selected];
  return html`<p class="field"><label for="max_file_bytes">${links.maxFileBytes}</label>
<select id="max_file_bytes" name="max_file_bytes"><option value="">${links.noLimit}</option>${toOptions(sizes, selected, formatsOf(texts).size)}</select></p>
<div class="choice"><input type="checkbox" id="ask_name" name="ask_name" value="true"${entered?.ask_name ? html` checked` : undefined} aria-describedby="ask_name-hint">
<label for="ask_name">${links.askName}</label>
<span id="ask_name-hint" class="quiet">${links.askNameHint}</span></div>`;
}

function toOptions(
  values: readonly number[],
  selected: number | undefined,
  format: (value: number) => string,
): SafeHtml[] {
  const sorted = [...new Set(values)].toSorted((one, other) => one - other);
  return sorted.map(
    (value) =>
      html`<option value="${value}"${value === selected ? html` selected` : undefined}>${format(value)}</option>`,
  );
}

/** A number that was entered; `undefined` for other texts. */
function toCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
