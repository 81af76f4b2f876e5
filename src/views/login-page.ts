import { html, type SafeHtml } from "../http/html.ts";
import { card, type Page, type PageContext } from "./page.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the login page shows. */
export interface LoginPage {
  /** The URL that the form is sent to. */
  readonly action: string;
  /** The URL where browsers without cookies ask for Basic credentials. */
  readonly withoutCookies: string;
  /** The path of the originally requested page, to which a successful login redirects. */
  readonly returnTo?: string | undefined;
  /** Why the last login failed. */
  readonly error?: ShownError | undefined;
}

/** The HTML login page (4.1). */
export function toLoginPage(context: PageContext, { action, withoutCookies, returnTo, error }: LoginPage): Page {
  const { texts } = context;
  const alert = error === undefined ? undefined : toAlert(toErrorText(texts, error));
  const back = returnTo === undefined ? undefined : html`<input type="hidden" name="return" value="${returnTo}">`;
  const content = card(html`<h1>${texts.login}</h1>
${alert}
<form method="post" action="${action}">
${back}
<p class="field"><label for="username">${texts.userName}</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" dir="auto" required autofocus></p>
<p class="field"><label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p><button class="primary wide">${texts.login}</button></p>
</form>
<p class="quiet"><a href="${withoutCookies}">${texts.loginWithoutCookies}</a><br>
${texts.loginWithoutCookiesHint}</p>`);
  return { title: texts.login, content };
}

function toAlert(message: string): SafeHtml {
  return html`<p role="alert" class="notice problem">${message}</p>`;
}
