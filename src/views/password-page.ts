import { html } from "../http/html.ts";
import { card, type Page, type PageContext } from "./page.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the page to change a password shows. */
export interface PasswordPage {
  /** The URL that the form is sent to. */
  readonly action: string;
  /** The account's name, for password managers. */
  readonly username: string;
  /** The URL that the cancel button opens. */
  readonly home: string;
  /** Why the last change was rejected. */
  readonly errors?: readonly ShownError[];
}

/** The HTML page to change a password (4.1, rule 4). */
export function toPasswordPage(context: PageContext, { action, username, home, errors = [] }: PasswordPage): Page {
  const { texts } = context;
  const items = errors.map((error) => html`<li>${toErrorText(texts, error)}</li>`);
  const alert = html`<div role="alert" class="notice problem"><ul>${items}</ul></div>`;
  const content = card(html`<h1>${texts.changePassword}</h1>
${errors.length === 0 ? undefined : alert}
<form method="post" action="${action}">
<p hidden><input value="${username}" autocomplete="username" aria-label="${texts.userName}" readonly></p>
<p class="field"><label for="current">${texts.currentPassword}</label>
<input id="current" name="current_password" type="password" autocomplete="current-password" required autofocus></p>
<p class="field"><label for="new">${texts.newPassword}</label>
<input id="new" name="new_password" type="password" autocomplete="new-password" required></p>
<p class="buttons"><button class="primary">${texts.changePassword}</button> <a class="button" href="${home}">${texts.cancel}</a></p>
</form>`);
  return { title: texts.changePassword, content };
}
