import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { icon } from "./icons.ts";

/** The URLs that end a browser's session, change its account's password, and list its links and its trash. */
export interface SessionLinks {
  readonly logout?: string;
  /** The login page, in place of all the others, for a visitor without an account. */
  readonly login?: string;
  /** The list of the account's links. */
  readonly shared?: string;
  /** The trash of the account. */
  readonly trash?: string;
  /** The API keys of the account. */
  readonly keys?: string;
  readonly passwordUpdate?: string;
}

/** Renders the links at the top of the page. What concerns the account is in a menu, which opens without a script. */
export function renderNavigation(texts: Texts, username: string, links: SessionLinks): SafeHtml {
  const { shared, trash, login } = links;
  if (login !== undefined) return html`<ul class="account"><li><a href="${login}">${texts.login}</a></li></ul>`;
  const linksLink = html`<li><a href="${shared}">${texts.links.list}</a></li>`;
  const trashLink = html`<li><a href="${trash}">${texts.trash.list}</a></li>`;
  return html`<ul class="account">
${shared === undefined ? undefined : linksLink}
${trash === undefined ? undefined : trashLink}
<li class="me">${renderAccount(texts, html`<span class="who"><bdi>${username}</bdi></span>`, links)}</li>
</ul>`;
}

function renderAccount(texts: Texts, name: SafeHtml, { logout, keys, passwordUpdate }: SessionLinks): SafeHtml {
  if (logout === undefined && passwordUpdate === undefined) return name;
  const passwordLink = html`<li><a href="${passwordUpdate}">${texts.changePassword}</a></li>`;
  const keysLink = html`<li><a href="${keys}">${texts.keys.list}</a></li>`;
  const logoutForm = html`<li><form method="post" action="${logout}"><button>${texts.logOut}</button></form></li>`;
  return html`<details class="menu" id="account"><summary>${name}${icon("chevron")}</summary><ul class="panel">
${passwordUpdate === undefined ? undefined : passwordLink}
${keys === undefined ? undefined : keysLink}
${logout === undefined ? undefined : logoutForm}
</ul></details>`;
}
