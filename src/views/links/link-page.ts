import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { formatsOf } from "../formats.ts";
import { ICONS } from "../icons.ts";
import { card, type Page, type PageContext, renderScript } from "../page.ts";
import { renderQrCode } from "../qr-code.ts";
import { renderEnd, renderPermissions, renderUrl, renderWithdraw } from "./link-parts.ts";

/** What the page of a link shows to its owner. */
export interface LinkPage {
  readonly link: LinkBody;
  /** The URL path of the list of links. Absent: the service does not keep links. */
  readonly list: string | undefined;
  /** The URL of the folder of the file, or of the folder itself. */
  readonly folder: string;
  /** Whether the link was just made. */
  readonly isNew: boolean;
}

/** The page of a link, with its URL as text and as a QR code. */
export function toLinkPage(context: PageContext, { link, list, folder, isNew }: LinkPage): Page {
  const { texts } = context;
  const { links } = texts;
  const title = isNew ? links.ready : links.link;
  const { url, file_url: fileUrl } = link;
  const content = card(html`<h1>${title}</h1>
${list === undefined ? html`<p>${links.copyNow}</p>` : undefined}
${renderUrl(texts, { id: "url", url, label: links.url })}
${fileUrl === null ? undefined : renderUrl(texts, { id: "file-url", url: fileUrl, label: links.fileUrl, buttonLabel: `${links.copy}: ${links.fileUrl}` })}
<p class="code">${renderQrCode(url, links.qrCode)}</p>
${renderFacts(context, link)}
<div class="buttons"><a class="button" href="${folder}">${links.toFolder}</a>${list === undefined ? undefined : html`<a class="button" href="${list}">${links.list}</a>${renderWithdraw(texts, list, link)}`}</div>
<p role="status" class="unseen copy-status"></p>`);
  return { title, content: html`${content}${ICONS}`, head: renderScript(context) };
}

function renderFacts({ texts }: PageContext, link: LinkBody): SafeHtml {
  const { links } = texts;
  const { label, path, max_uses: max, max_file_bytes: maxBytes, uses } = link;
  return html`<dl class="facts">
${renderFact(links.leadsTo, html`<bdi>${path}</bdi>`)}
${label === "" ? undefined : renderFact(links.label, html`<bdi>${label}</bdi>`)}
${renderFact(links.permissions, renderPermissions(texts, link))}
${renderFact(links.validUntil, renderEnd(texts, link))}
${link.has_password ? renderFact(links.password, html`${links.withPassword}`) : undefined}
${max === null ? undefined : renderFact(links.uses, html`${fillText(links.usesOf, { uses, max })}`)}
${maxBytes === null ? undefined : renderFact(links.maxFileBytes, html`${formatsOf(texts).size(maxBytes)}`)}
${link.ask_name ? renderFact(links.askName, html`${links.askNameHint}`) : undefined}
</dl>`;
}

function renderFact(name: string, value: SafeHtml): SafeHtml {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}
