import { html, type SafeHtml } from "../../http/html.ts";
import { fillText } from "../../platform/fill-text.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { ICONS, icon } from "../icons.ts";
import { type Page, type PageContext, renderPage, renderScript } from "../page.ts";
import { openRowsPage, ROWS } from "../rows-page.ts";
import type { TextSource } from "../text-source.ts";
import { renderEnd, renderPermissions, renderUrl, renderWithdraw } from "./link-parts.ts";

/** What the list of links shows. */
export interface LinksPage {
  /** Newest first, a few at a time. */
  readonly links: AsyncIterator<readonly LinkBody[]>;
  /** The URL path of the list. */
  readonly path: string;
  /** The URL path of the account's root folder. */
  readonly home: string;
}

/**
 * Opens the page with the links of an account, which are read while it is sent. Closing it ends their iteration.
 * @throws what the first steps of `links` throw.
 */
export function openLinksPage(context: PageContext, { links, path, home }: LinksPage): Promise<TextSource> {
  return openRowsPage({
    rows: links,
    toFrame: (isEmpty) => renderPage(context, toPage(context, { path, home, isEmpty })),
    toRow: (link) => renderRow(context.texts, link, path),
  });
}

function toPage(
  context: PageContext,
  { path, home, isEmpty }: Omit<LinksPage, "links"> & { readonly isEmpty: boolean },
): Page {
  const { texts } = context;
  const title = texts.links.list;
  const content = html`<main class="links">
<nav class="crumbs" aria-label="${texts.folderPath}"><ol><li><a href="${home}">${texts.home}</a></li></ol></nav>
<h1>${title}</h1>
${isEmpty ? renderNothing(context) : renderTable(context, path)}
<p role="status" class="unseen copy-status"></p>
</main>
${ICONS}`;
  return { title, content, head: renderScript(context) };
}

function renderNothing({ texts: { links } }: PageContext): SafeHtml {
  return html`<div class="empty">${icon("empty")}<p><strong>${links.empty}</strong></p><p>${links.emptyHint}</p></div>`;
}

/** The question before all links are withdrawn opens without a script. */
function renderTable({ texts }: PageContext, path: string): SafeHtml {
  const { links } = texts;
  return html`<table>
<caption class="unseen">${links.list}</caption>
<thead><tr><th scope="col">${links.leadsTo}</th><th scope="col">${links.permissions}</th><th scope="col">${links.validUntil}</th><th scope="col">${links.url}</th><th scope="col"><span class="unseen">${links.action}</span></th></tr></thead>
<tbody>
${ROWS}</tbody>
</table>
<details class="all"><summary>${links.withdrawAll}</summary>
<form method="post" action="${path}"><p>${links.withdrawAllHint}</p>
<button name="action" value="withdraw-all" class="danger">${links.withdrawAll}</button></form>
</details>`;
}

function renderRow(texts: PageContext["texts"], link: LinkBody, list: string): SafeHtml {
  const { links } = texts;
  const { id, path, url, label, uses, max_uses: max } = link;
  const notes = [
    label === "" ? undefined : html`<bdi>${label}</bdi>`,
    link.has_password ? html`${links.withPassword}` : undefined,
    max === null ? undefined : html`${links.uses}: ${fillText(links.usesOf, { uses, max })}`,
  ].filter((note) => note !== undefined);
  const buttonLabel = fillText(links.copyOne, { path });
  const copy = { id: `url-${id}`, url, label: links.url, isLabelHidden: true, buttonLabel };
  return html`<tr><th scope="row"><a href="${list}/${id}"><bdi>${path}</bdi></a>${notes.map((note) => html`<small>${note}</small>`)}</th><td>${renderPermissions(texts, link)}</td><td data-label="${links.validUntil}">${renderEnd(texts, link)}</td><td>${renderUrl(texts, copy)}</td><td>${renderWithdraw(texts, list, link, fillText(links.withdrawOne, { path }))}</td></tr>
`;
}
