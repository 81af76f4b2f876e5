import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";

/**
 * Renders the link from the row of a file to the page with its versions. `path`: the URL path of that page. `shown`:
 * what the row shows, to which the name of the file is added for screen readers.
 */
export function renderVersionsLink(texts: Texts, path: string, name: string, shown: SafeHtml): SafeHtml {
  const { list, ofFile } = texts.versions;
  return html`<a href="${path}" title="${list}">${shown}<span class="unseen"> ${fillText(ofFile, { name })}</span></a>`;
}
