import { createError } from "../http/errors.ts";
import { html } from "../http/html.ts";
import { PASSWORDS_NAME } from "./assets.ts";
import { card, type Page, type PageContext, renderScript } from "./page.ts";
import { renderCapsLock, renderPasswordField } from "./password-field.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the page to change a password shows. */
export interface PasswordPage {
  /** The URL that the form is sent to. */
  readonly action: string;
  /** The account's name, for password managers. */
  readonly username: string;
  /** The URL that the cancel button opens. */
  readonly home: string;
  /** What is enforced of the new password. */
  readonly rules: readonly ShownError[];
  /** Why the last change was rejected. */
  readonly errors?: readonly ShownError[];
}

/** The HTML page to change a password (4.1, rule 4). */
export function toPasswordPage(context: PageContext, page: PasswordPage): Page {
  const { texts } = context;
  const { action, username, home, rules, errors = [] } = page;
  const differs = toErrorText(texts, createError("password-mismatch"));
  const items = errors.map((error) => html`<li>${toErrorText(texts, error)}</li>`);
  const alert = html`<div role="alert" class="notice problem"><ul>${items}</ul></div>`;
  const content = card(html`<h1>${texts.changePassword}</h1>
${errors.length === 0 ? undefined : alert}
<form method="post" action="${action}">
<p hidden><input value="${username}" autocomplete="username" aria-label="${texts.userName}" readonly></p>
${renderPasswordField(texts, {
  id: "current",
  name: "current_password",
  label: texts.currentPassword,
  autocomplete: "current-password",
  isFocused: true,
  hasReveal: true,
})}
${renderPasswordField(texts, {
  id: "new",
  name: "new_password",
  label: texts.newPassword,
  autocomplete: "new-password",
  attributes: html` aria-describedby="rules"`,
})}
<ul class="quiet" id="rules">${rules.map((rule) => html`<li>${toErrorText(texts, rule)}</li>`)}</ul>
${renderPasswordField(texts, {
  id: "repeated",
  name: "repeated_password",
  label: texts.repeatPassword,
  autocomplete: "new-password",
  attributes: html` data-repeats="new" data-differs="${differs}"`,
})}
${renderCapsLock(texts)}
<p class="buttons"><button class="primary">${texts.changePassword}</button> <a class="button" href="${home}">${texts.cancel}</a></p>
</form>`);
  return { title: texts.changePassword, content, head: renderScript(context, PASSWORDS_NAME) };
}
