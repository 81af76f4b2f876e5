import { html, type SafeHtml } from "../http/html.ts";
import { page } from "./page.ts";

/** What the page to change a password shows. */
export interface PasswordPage {
  /** Where the form goes. */
  readonly action: string;
  /** The account, for password managers. */
  readonly username: string;
  /** Where it leads without a change. */
  readonly home: string;
  /** Why the last change was refused. */
  readonly messages?: readonly string[];
}

/** The HTML page to change a password (4.1, rule 4). */
export function renderPasswordPage({ action, username, home, messages = [] }: PasswordPage): SafeHtml {
  const items = messages.map((message) => html`<li>${message}</li>`);
  return page(
    "Change the password",
    html`<h1>Change the password</h1>
${messages.length === 0 ? undefined : html`<ul role="alert">${items}</ul>`}
<form method="post" action="${action}">
<p hidden><input value="${username}" autocomplete="username" readonly></p>
<p><label>Current password <input name="current_password" type="password" autocomplete="current-password" required autofocus></label></p>
<p><label>New password <input name="new_password" type="password" autocomplete="new-password" required></label></p>
<p><button>Change the password</button> <a href="${home}">Cancel</a></p>
</form>`,
  );
}
