import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { renderSize } from "./formats.ts";
import { renderOpenLink } from "./open-link.ts";
import { card, type Page, type PageContext, renderScript } from "./page.ts";
import { type ShownError, toErrorText } from "./texts.ts";
import { type PageLink, renderExpiry, renderMaxFileSize, renderSender } from "./visitor-parts.ts";

/** What the page of a link to one file shows. */
export interface LinkFilePage {
  readonly link: PageLink;
  /** The file. Absent: there is none, or the link does not show it. */
  readonly file?: { readonly size: number } | undefined;
  /** Whether the file can be uploaded, or uploaded again. */
  readonly mayUpload: boolean;
  /** Whether the last form has uploaded it. */
  readonly isUploaded: boolean;
  readonly problems: readonly ShownError[];
}

/**
 * The page of a link to one file: its name and size, and what the link permits. The script only shows times in the zone
 * of the visitor.
 */
export function toLinkFilePage(context: PageContext, page: LinkFilePage): Page {
  const { texts } = context;
  const { link, file, mayUpload } = page;
  const size = file && html`${renderSize(texts, file.size)} · `;
  const content = card(html`<h1><bdi>${link.name}</bdi></h1>
${renderMessages(texts, page)}
<p class="quiet">${size}${renderExpiry(texts, link)}</p>
${file && html`<p><a class="button primary wide" href="./${encodeURIComponent(link.name)}" download>${texts.downloadFile}</a></p>`}
${file && !link.isCounted ? renderOpen(texts, link.name) : undefined}
${mayUpload ? renderUpload(texts, page) : undefined}`);
  return { title: link.name, content, head: renderScript(context) };
}

/** A link that counts would count it as a download. */
function renderOpen(texts: Texts, name: string): SafeHtml | undefined {
  const link = renderOpenLink(texts, name, "button wide");
  return link && html`<p>${link}</p>`;
}

function renderMessages(texts: Texts, { isUploaded, problems }: LinkFilePage): SafeHtml | undefined {
  if (problems.length > 0) {
    const items = problems.map((error) => html`<li>${toErrorText(texts, error)}</li>`);
    return html`<div role="alert" class="notice problem"><ul>${items}</ul></div>`;
  }
  return isUploaded ? html`<p role="status" class="notice success">${texts.done.uploaded}</p>` : undefined;
}

/** The chosen file is stored under the name of the link, and not under its own. */
function renderUpload(texts: Texts, { link, file }: LinkFilePage): SafeHtml {
  return html`<form class="stacked" method="post" action="./" enctype="multipart/form-data">
<input type="hidden" name="action" value="upload-file">
${link.asksName ? renderSender(texts) : undefined}<label for="upload-file">${texts.uploadFile}</label>
<input id="upload-file" type="file" name="upload-file" required>
${renderMaxFileSize(texts, link)}<button class="${file ? undefined : "primary "}wide">${texts.upload}</button>
</form>`;
}
