import { KEY_PERMISSIONS, type KeyPermission } from "../contracts/api-keys.ts";
import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import type { ShownKey } from "../schemas/api-keys.ts";
import { formatsOf, renderSeconds } from "./formats.ts";
import { ICONS, icon } from "./icons.ts";
import { renderUrl, toPermissionText } from "./links/link-parts.ts";
import { card, type Page, type PageContext, renderScript } from "./page.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the user has entered in the form for a new key. */
export interface EnteredKey {
  readonly permissions: readonly string[];
  readonly label?: string | undefined;
  readonly path?: string | undefined;
  readonly expires_in?: string | undefined;
}

/** What the page of the API keys shows. */
export interface KeysPage {
  /** Newest first. */
  readonly keys: readonly ShownKey[];
  /** The URL path of the keys. */
  readonly path: string;
  /** The URL path of the account's root folder. */
  readonly home: string;
  /** POSIX seconds. */
  readonly now: number;
  /** Whether the account may make and revoke keys. */
  readonly mayChange: boolean;
  /** Why the last form has failed. */
  readonly error?: ShownError;
  readonly entered?: EnteredKey;
}

const DAY = 86_400;
const DURATIONS: readonly number[] = [7 * DAY, 30 * DAY, 90 * DAY, 365 * DAY];
/** What is proposed: a key that ends if it is forgotten. */
const DEFAULT_DURATION = 90 * DAY;
/** Without a choice a key has all permissions, so the form does not offer that as one of them. */
const OFFERED = KEY_PERMISSIONS.filter((permission) => permission !== "allow-full-control");

/** The page with the API keys of an account, and the form for a new one. It works without a script. */
export function toKeysPage(context: PageContext, page: KeysPage): Page {
  const { texts } = context;
  const { keys } = texts;
  const { error, home, mayChange } = page;
  const content = html`<main class="links">
<nav class="crumbs" aria-label="${texts.folderPath}"><ol><li><a href="${home}">${texts.home}</a></li></ol></nav>
<h1>${keys.list}</h1>
<p class="quiet">${keys.hint}</p>
${error === undefined ? undefined : html`<p role="alert" class="notice problem">${toErrorText(texts, error)}</p>`}
${page.keys.length === 0 ? renderNothing(context) : renderTable(context, page)}
${mayChange ? renderForm(context, page) : undefined}
</main>
${ICONS}`;
  return { title: keys.list, content, head: renderScript(context) };
}

/** The page that shows a new key, this one time. */
export function toNewKeyPage(
  context: PageContext,
  { key, text, list }: { readonly key: ShownKey; readonly text: string; readonly list: string },
): Page {
  const { texts } = context;
  const { keys } = texts;
  const content = card(html`<h1>${keys.ready}</h1>
<p>${keys.readyHint}</p>
${renderUrl(texts, { id: "key", url: text, label: keys.key })}
<dl class="facts">
<div><dt>${keys.label}</dt><dd><bdi>${toName(key)}</bdi></dd></div>
<div><dt>${keys.path}</dt><dd><bdi>${key.path}</bdi></dd></div>
<div><dt>${keys.permissions}</dt><dd>${renderPermissionsOf(texts, key)}</dd></div>
<div><dt>${keys.expires}</dt><dd>${renderEndOf(texts, key)}</dd></div>
</dl>
<div class="buttons"><a class="button" href="${list}">${keys.list}</a></div>
<p role="status" class="unseen copy-status"></p>`);
  return { title: keys.ready, content: html`${content}${ICONS}`, head: renderScript(context) };
}

function toName({ id, label }: ShownKey): string {
  return label === "" ? id : label;
}

function renderNothing({ texts: { keys } }: PageContext): SafeHtml {
  return html`<div class="empty">${icon("empty")}<p><strong>${keys.empty}</strong></p></div>`;
}

function renderTable({ texts }: PageContext, page: KeysPage): SafeHtml {
  const { keys } = texts;
  const rows = page.keys.map((key) => renderRow(texts, key, page));
  return html`<table>
<caption class="unseen">${keys.list}</caption>
<thead><tr><th scope="col">${keys.label}</th><th scope="col">${keys.path}</th><th scope="col">${keys.permissions}</th><th scope="col">${keys.expires}</th>${page.mayChange ? html`<th scope="col"><span class="unseen">${keys.action}</span></th>` : undefined}</tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function renderRow(texts: Texts, key: ShownKey, { path, now, mayChange }: KeysPage): SafeHtml {
  const { keys } = texts;
  const isExpired = key.expires !== null && key.expires <= now;
  const revoke = html`<td><form method="post" action="${path}/${key.id}"><button name="action" value="revoke" class="danger" aria-label="${fillText(keys.revokeOne, { name: toName(key) })}">${keys.revoke}</button></form></td>`;
  return html`<tr><th scope="row"><bdi>${toName(key)}</bdi><small>${key.id}</small></th><td data-label="${keys.path}"><bdi>${key.path}</bdi></td><td>${renderPermissionsOf(texts, key)}</td><td data-label="${keys.expires}">${renderEndOf(texts, key)}${isExpired ? html`<small>${keys.expired}</small>` : undefined}</td>${mayChange ? revoke : undefined}</tr>
`;
}

function renderPermissionsOf(texts: Texts, { permissions }: ShownKey): SafeHtml {
  if (permissions === null || permissions.includes("allow-full-control")) return html`${texts.keys.all}`;
  return html`<ul>${permissions.map((permission) => html`<li>${toText(texts, permission)}</li>`)}</ul>`;
}

function toText(texts: Texts, permission: KeyPermission): string {
  switch (permission) {
    case "allow-full-control":
      return texts.keys.all;
    case "allow-rename":
      return texts.keys.mayRename;
    case "allow-set-attributes":
      return texts.keys.maySetAttributes;
    default:
      return toPermissionText(texts, permission, true);
  }
}

function renderEndOf(texts: Texts, { expires }: ShownKey): SafeHtml {
  if (expires === null) return html`${texts.keys.never}`;
  return renderSeconds(texts, expires);
}

function renderForm({ texts }: PageContext, { path, entered }: KeysPage): SafeHtml {
  const { keys } = texts;
  const boxes = OFFERED.map(
    (
      permission,
    ) => html`<div class="choice"><input type="checkbox" id="${permission}" name="permissions" value="${permission}"${entered?.permissions.includes(permission) ? html` checked` : undefined}>
<label for="${permission}">${toText(texts, permission)}</label></div>`,
  );
  return html`<h2>${keys.create}</h2>
<form method="post" action="${path}">
<p class="field"><label for="label">${keys.label}</label>
<input id="label" name="label" maxlength="200" value="${entered?.label}" dir="auto" autocomplete="off"></p>
<p class="field"><label for="path">${keys.path}</label>
<input id="path" name="path" value="${entered?.path}" placeholder="/" dir="auto" autocomplete="off" spellcheck="false" aria-describedby="path-hint">
<span id="path-hint" class="quiet">${keys.pathHint}</span></p>
<fieldset><legend>${keys.permissions}</legend>
<p class="quiet">${keys.permissionsHint}</p>
${boxes}
</fieldset>
<p class="field"><label for="expires_in">${keys.expires}</label>
<select id="expires_in" name="expires_in">${renderDurations(texts, entered)}</select></p>
<p><button class="primary">${keys.create}</button></p>
</form>`;
}

function renderDurations(texts: Texts, entered: EnteredKey | undefined): SafeHtml {
  const selected = entered === undefined ? String(DEFAULT_DURATION) : (entered.expires_in ?? "");
  const isSelected = (value: string): SafeHtml | undefined => (value === selected ? html` selected` : undefined);
  const durations = DURATIONS.map(
    (seconds) =>
      html`<option value="${seconds}"${isSelected(String(seconds))}>${formatsOf(texts).duration(seconds)}</option>`,
  );
  return html`${durations}<option value=""${isSelected("")}>${texts.keys.never}</option>`;
}
