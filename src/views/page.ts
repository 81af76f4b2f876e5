import type { Branding } from "../contracts/pages/branding.ts";
import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { htmlReply } from "../http/reply.ts";
import { SCRIPT_NAME, STYLE_NAME, toAssetPath } from "./assets.ts";

/** The language of a page and the settings of the service. A request context has both. */
export interface PageContext {
  readonly texts: Texts;
  readonly config: { readonly basePath: string; readonly pages: PageSettings };
  /** The path of the root folder's URL, which ends in `/`. */
  readonly root: string;
  /** Links next to the name at the top of the page. */
  readonly navigation?: SafeHtml | undefined;
}

/** The options that concern pages. */
export interface PageSettings {
  readonly branding: Branding & { readonly name: string };
  readonly brandStyle: { readonly name: string } | undefined;
  readonly fields: HeaderFields;
}

/** The content of one page. */
export interface Page {
  readonly title: string;
  /** The `main` element. */
  readonly content: SafeHtml;
  /** Elements for the end of the document's head. */
  readonly head?: SafeHtml | undefined;
  /** Names of the style sheets. Default: the style sheet of all pages. */
  readonly styles?: readonly string[];
}

/** The default icon: a folder that is visible on light and dark backgrounds. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%235b8def' d='M2 6a2 2 0 0 1 2-2h5l2 3h9a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2z'/%3E%3C/svg%3E";

/**
 * Says what browsers send as `Origin` and `Referer`. Responses about links have `Referrer-Policy: no-referrer`, with
 * which forms would have `Origin: null`, but the service recognizes its own pages by the origin (CONTRACT 6.5). The
 * path of a link has its token, so not even logs of the same origin get it.
 */
function renderReferrerPolicy({ config, root }: PageContext): SafeHtml {
  const isByLink = root !== `${config.basePath}/home/`;
  return html`<meta name="referrer" content="${isByLink ? "strict-origin" : "same-origin"}">`;
}

/** Creates a response with a page. */
export function pageReply(context: PageContext, status: number, page: Page, fields: HeaderFields = {}): Reply {
  return htmlReply(status, renderPage(context, page), { ...fields, ...toPageFields(context) });
}

/** The headers of a page. The response to HEAD has them too. */
export function toPageFields({ texts, config }: PageContext): HeaderFields {
  return { ...config.pages.fields, "Content-Language": texts.language };
}

/** Renders a complete page: the common frame with the page's content. */
export function renderPage(context: PageContext, page: Page): SafeHtml {
  const { title, content, head, styles = [STYLE_NAME] } = page;
  const { texts, config, root, navigation } = context;
  const { branding, brandStyle } = config.pages;
  const sheets = brandStyle === undefined ? styles : [...styles, brandStyle.name];
  const { name, logo, footnote } = branding;
  const image = html`<img class="logo" src="${logo}" alt="" width="36" height="36">`;
  return html`<!doctype html>
<html lang="${texts.language}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${renderReferrerPolicy(context)}
<title>${title} – ${name}</title>
<link rel="icon" href="${logo ?? ICON}">
${sheets.map((sheet) => html`<link rel="stylesheet" href="${toAssetPath(config.basePath, sheet)}">`)}
${head}
</head>
<body>
<header class="top">
<a class="brand" href="${root}">${logo === undefined ? undefined : image}<span>${name}</span></a>
${navigation}
</header>
${content}
${footnote !== undefined && footnote !== "" ? html`<footer class="foot"><p>${footnote}</p></footer>` : undefined}
</body>
</html>
`;
}

/** Renders the element that loads a script, by default that of most pages, for the `head` of a page. */
export function renderScript({ config }: PageContext, name = SCRIPT_NAME): SafeHtml {
  return html`<script type="module" src="${toAssetPath(config.basePath, name)}"></script>`;
}

/** Renders the `main` element of a small page, such as the login page. */
export function card(content: SafeHtml): SafeHtml {
  return html`<main class="card">
${content}
</main>`;
}

/** Creates a redirect with a page for clients that do not follow it (5.1). */
export function redirectReply(
  context: PageContext,
  status: 302 | 303,
  location: string,
  message: string,
  fields: HeaderFields = {},
): Reply {
  return continueReply(context, status, location, message, { ...fields, Location: location });
}

/** Creates a page that leads on to another one by itself. */
export function continueReply(
  context: PageContext,
  status: number,
  location: string,
  message: string,
  fields: HeaderFields = {},
): Reply {
  const { texts } = context;
  const head = html`<meta http-equiv="refresh" content="0; url=${location}">`;
  const content = card(html`<h1>${message}</h1>
<p><a href="${location}">${texts.continue}</a></p>`);
  return pageReply(context, status, { title: message, content, head }, fields);
}
