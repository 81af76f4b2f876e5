import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import { PASSWORDS_NAME } from "./assets.ts";
import { card, type Page, type PageContext, renderScript } from "./page.ts";
import { renderCapsLock, renderPasswordField } from "./password-field.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** What the login page shows. */
export interface LoginPage {
  /** The URL that the form is sent to. Absent: no account has a password. */
  readonly action: string | undefined;
  /** The logins at other sites. */
  readonly signOns?: readonly SignOnButton[];
  /** The URL where browsers without cookies ask for Basic credentials. */
  readonly withoutCookies: string;
  /** The path of the originally requested page, to which a successful login redirects. */
  readonly returnTo?: string | undefined;
  /** The user name of the login that failed. */
  readonly username?: string | undefined;
  /** Whether the form has a field for a one-time password. Default: false. */
  readonly asksForCode?: boolean | undefined;
  /** Why the last login failed. */
  readonly error?: ShownError | undefined;
}

/** A button that starts a login at another site. */
export interface SignOnButton {
  /** The URL that starts the login. */
  readonly href: string;
  /** The name of the other site. */
  readonly label: string;
}

/** The path of a login at another site. */
export function toSignOnPath(basePath: string, id: string, step: "start" | "callback"): string {
  return `${basePath}/__svc__/oidc/${id}/${step}`;
}

/** The HTML login page (4.1). */
export function toLoginPage(context: PageContext, page: LoginPage): Page {
  const { texts } = context;
  const { action, signOns = [], error } = page;
  const alert = error === undefined ? undefined : toAlert(toErrorText(texts, error));
  const content = card(html`<h1>${texts.login}</h1>
${alert}
${signOns.map((button, index) => renderSignOn(texts, button, action === undefined && index === 0))}
${action === undefined ? undefined : renderForm(texts, page, action)}`);
  return {
    title: texts.login,
    content,
    head: action === undefined ? undefined : renderScript(context, PASSWORDS_NAME),
  };
}

function renderSignOn(texts: Texts, { href, label }: SignOnButton, isFirst: boolean): SafeHtml {
  const text = fillText(texts.logInWith, { name: label });
  return html`<p><a class="button wide${isFirst ? html` primary` : undefined}" href="${href}">${text}</a></p>`;
}

function renderForm(texts: Texts, page: LoginPage, action: string): SafeHtml {
  const { withoutCookies, returnTo, username = "", asksForCode = false } = page;
  const isNamed = username !== "";
  const back = returnTo === undefined ? undefined : html`<input type="hidden" name="return" value="${returnTo}">`;
  return html`<form method="post" action="${action}">
${back}
<p class="field"><label for="username">${texts.userName}</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" dir="auto" value="${username}" required${isNamed ? undefined : html` autofocus`}></p>
${renderPasswordField(texts, {
  id: "password",
  name: "password",
  label: texts.password,
  autocomplete: "current-password",
  isFocused: isNamed,
  hasReveal: true,
})}
${renderCapsLock(texts)}
${asksForCode ? renderCodeField(texts) : undefined}
<p><button class="primary wide">${texts.login}</button></p>
</form>
<p class="quiet"><a href="${withoutCookies}">${texts.loginWithoutCookies}</a><br>
${texts.loginWithoutCookiesHint}</p>`;
}

/** The keyboard has letters: the field also takes a recovery code. */
function renderCodeField(texts: Texts): SafeHtml {
  return html`<p class="field"><label for="code">${texts.oneTimePassword}</label>
<input id="code" name="one_time_password" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" aria-describedby="code-hint" required></p>
<p class="quiet" id="code-hint">${texts.oneTimePasswordHint}</p>`;
}

function toAlert(message: string): SafeHtml {
  return html`<p role="alert" class="notice problem">${message}</p>`;
}
