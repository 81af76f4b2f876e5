import type { ApiPageFile } from "../contracts/pages/api-page.ts";
import { createError } from "../http/errors.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { toAssetPath } from "./assets.ts";
import { type PageContext, renderPage } from "./page.ts";
import { toErrorText } from "./texts.ts";

const TYPES: Readonly<Record<ApiPageFile["type"], string>> = {
  style: "text/css; charset=utf-8",
  script: "text/javascript; charset=utf-8",
  module: "text/javascript; charset=utf-8",
  notices: "text/plain; charset=utf-8",
};

/** The `Content-Type` of a file of the page. */
export function toFileType({ type }: ApiPageFile): string {
  return TYPES[type];
}

/** Renders the interactive API page (1.3): our own login form, and below it the viewer of the OpenAPI document. */
export function renderApiPage(context: PageContext, files: readonly ApiPageFile[]): SafeHtml {
  const { texts, config } = context;
  const own = `${config.basePath}/__svc__`;
  const notices = files.find(({ type }) => type === "notices");
  const license = notices && html`<a href="${toAssetPath(config.basePath, notices.name)}">${texts.viewerLicenses}</a>`;
  // The viewer brings the `main` element.
  const content = html`<div id="api" data-service="${config.basePath}" data-texts="${JSON.stringify(toScriptTexts(context))}">
<section class="about" aria-labelledby="title">
<h1 id="title">${texts.api}</h1>
<p class="quiet"><a href="${own}/openapi.json">openapi.json</a> <a href="${own}/openapi.yaml">openapi.yaml</a> ${license}</p>
<noscript><p class="notice">${texts.needsScript}</p></noscript>
<form id="login" class="access" aria-label="${texts.login}" hidden>
<p>${texts.apiHint}</p>
<p class="field"><label for="username">${texts.userName}</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" dir="auto" required></p>
<p class="field"><label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></p>
<p id="code-field" class="field" hidden><label for="code">${texts.oneTimePassword}</label>
<input id="code" name="one_time_password" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"></p>
<p><button class="primary">${texts.login}</button></p>
</form>
<div id="access" class="access" hidden><p>${texts.loggedIn}</p><p><button id="logout" type="button">${texts.logOut}</button></p></div>
<p id="message" class="message" role="status"></p>
</section>
<div id="viewer" lang="en" dir="ltr"></div>
</div>`;
  const styles = files.filter(({ type }) => type === "style").map(({ name }) => name);
  return renderPage(context, { title: texts.api, content, styles, head: toScripts(config.basePath, files) });
}

/** The texts of the page's script, by the names of its `ApiPageTexts`. */
function toScriptTexts({ texts }: PageContext): Readonly<Record<string, string | object>> {
  const { loggedOut, script } = texts;
  const wrong = toErrorText(texts, createError("credentials-wrong"));
  const codes = ["second-factor-required", "second-factor-wrong", "second-factor-throttled"] as const;
  const secondFactor = Object.fromEntries(codes.map((code) => [code, toErrorText(texts, createError(code))]));
  const { sessionEnded, networkLost, refused } = script;
  return { loggedOut, wrong, secondFactor, sessionEnded, networkLost, refused };
}

function toScripts(basePath: string, files: readonly ApiPageFile[]): SafeHtml {
  const scripts = files.filter(({ type }) => type === "script" || type === "module");
  const elements = scripts.map(({ type, name }) => {
    const url = toAssetPath(basePath, name);
    return type === "module"
      ? html`<script type="module" src="${url}"></script>`
      : html`<script defer src="${url}"></script>`;
  });
  return html`${elements}`;
}
