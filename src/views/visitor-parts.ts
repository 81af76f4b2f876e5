import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import { formatsOf, renderTime } from "./formats.ts";

/** What the pages of a link show of it. They never show the account, nor anything above what the link leads to. */
export interface PageLink {
  /** Not a secret. By it, the script knows which link its remembered uploads belong to. */
  readonly id: string;
  /** The name of what it leads to. Empty for all files of an account. */
  readonly name: string;
  readonly expires: Date;
  /** Whether the sender of a file has to give a name. */
  readonly asksName: boolean;
  /** Whether files can only be sent. */
  readonly isDropFolder: boolean;
  /** Whether the link ends after a number of downloads. */
  readonly isCounted: boolean;
  /** The maximum size of a file, in bytes. Absent: there is no limit. */
  readonly maxFileBytes?: number | undefined;
}

/** When a link ends. */
export function renderExpiry(texts: Texts, { expires }: PageLink): SafeHtml {
  const [before, after] = texts.availableUntil.split("{time}");
  return html`${before}${renderTime(texts, expires, " UTC")}${after}`;
}

/** The line below the bar of a folder's page, which says when the link ends, and what a drop folder is for. */
export function renderLinkLine(texts: Texts, link: PageLink): SafeHtml {
  const hint = link.isDropFolder ? html`<p>${texts.dropFolderHint}</p>` : undefined;
  return html`<p class="link-line quiet">${renderExpiry(texts, link)}</p>
${hint}`;
}

/** The field for the name of who sends files, which the form has before the files. */
export function renderSender(texts: Texts, entered = ""): SafeHtml {
  return html`<label for="sender">${texts.sender}</label>
<input id="sender" name="sender" value="${entered}" autocomplete="name" dir="auto" maxlength="100" required>
`;
}

/** How large a file may be; nothing without a limit. */
export function renderMaxFileSize(texts: Texts, { maxFileBytes }: PageLink): SafeHtml | undefined {
  if (maxFileBytes === undefined) return undefined;
  const text = fillText(texts.maxFileSize, { size: formatsOf(texts).size(maxFileBytes) });
  return html`<p class="quiet max-size">${text}</p>
`;
}
