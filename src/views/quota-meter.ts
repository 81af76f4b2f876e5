import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { fillText } from "../platform/fill-text.ts";
import { formatsOf } from "./formats.ts";

/** What a folder page shows of a quota. Each limit is absent if there is none. */
export interface PageQuota {
  readonly bytes?: QuotaShare | undefined;
  readonly files?: QuotaShare | undefined;
}

/** How much of a limit is used. */
export interface QuotaShare {
  readonly used: number;
  readonly limit: number;
  /** What is free: less than the rest of the limit if a folder around has a limit, too. */
  readonly available: number;
}

/** The line at the end of a folder page: what is used, and what is free. */
export function renderQuota(texts: Texts, { bytes, files }: PageQuota): SafeHtml {
  const { size, count } = formatsOf(texts);
  return html`<div class="quota">
${bytes && renderShare("quota-bytes", bytes, fillText(texts.quotaBytes, inWords(bytes, size)))}
${files && renderShare("quota-files", files, fillText(texts.quotaFiles, inWords(files, count)))}
</div>`;
}

/** The meter is green, yellow or red by what is free. The text says the same to everyone. */
function renderShare(id: string, { limit, available }: QuotaShare, text: string): SafeHtml {
  const taken = Math.max(0, limit - available);
  return html`<p><meter min="0" max="${limit}" low="${limit * 0.75}" high="${limit * 0.9}" optimum="0" value="${taken}" aria-labelledby="${id}"></meter> <span id="${id}">${text}</span></p>`;
}

function inWords({ used, limit, available }: QuotaShare, format: (value: number) => string): Record<string, string> {
  return { used: format(used), limit: format(limit), available: format(available) };
}
