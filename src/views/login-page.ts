import { html, type SafeHtml } from "../http/html.ts";
import { page } from "./page.ts";

/** What the login page shows. */
export interface LoginPage {
  /** Where the form goes. */
  readonly action: string;
  /** Where a login leads: the path of the page that was asked for, if any. */
  readonly returnTo?: string | undefined;
  /** Why the last login failed. */
  readonly message?: string | undefined;
}

/** The HTML login page (4.1). */
export function renderLoginPage({ action, returnTo, message }: LoginPage): SafeHtml {
  const alert = message === undefined ? undefined : html`<p role="alert">${message}</p>`;
  const back = returnTo === undefined ? undefined : html`<input type="hidden" name="return" value="${returnTo}">`;
  return page(
    "Log in",
    html`<h1>Log in</h1>
${alert}
<form method="post" action="${action}">
${back}
<p><label>User name <input name="username" autocomplete="username" required autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Log in</button></p>
</form>`,
  );
}
