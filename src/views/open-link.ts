import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { findInlineType } from "./inline-types.ts";

/** A link that shows a file of the page's folder in a tab of its own; nothing for a file that is only saved. */
export function renderOpenLink(texts: Texts, name: string, style = "button"): SafeHtml | undefined {
  if (findInlineType(name)?.isPage !== true) return undefined;
  return html`<a class="${style}" href="./${encodeURIComponent(name)}?inline" target="_blank" rel="noopener">${texts.open}</a>
`;
}
