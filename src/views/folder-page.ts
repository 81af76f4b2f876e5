import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import { fillText } from "../platform/fill-text.ts";
import { toAssetPath, VIEWER_NAME } from "./assets.ts";
import { renderBar } from "./folder/bar.ts";
import { type FolderPage, type FolderProblem, mayView, type SentFiles } from "./folder/content.ts";
import { renderMemberPanel } from "./folder/member-panel.ts";
import { CHUNK_END, createRowRenderer, ROWS_PER_CHUNK, renderTableHead } from "./folder/member-rows.ts";
import { renderMessages } from "./folder/messages.ts";
import { toRootName } from "./folder/place.ts";
import {
  hasUploadCard,
  mayActOnMembers,
  renderDefaultAction,
  renderMemberActions,
  renderUploadCard,
  toOffers,
} from "./folder-actions.ts";
import { formatsOf } from "./formats.ts";
import { ICONS, icon } from "./icons.ts";
import { type PageMember, sortMembers, toOrderedUrl } from "./member-order.ts";
import { type PageContext, renderPage, renderScript } from "./page.ts";
import { renderQuota } from "./quota-meter.ts";
import { renderLinkLine } from "./visitor-parts.ts";

export type { FolderPage, FolderProblem, SentFiles };

/**
 * The minimum number of characters in a chunk; the last row may exceed it. A name appears seven times in its row, and
 * escaping can make it six times as long each time.
 */
const CHUNK_CHARACTERS = 65_536;

/** Marks the position of the members. No text on the page can contain it, because `<` is escaped. */
const MEMBERS = html`<!--members-->`;

/**
 * Streams the HTML page of a folder (4.6). The page yields to the event loop between two chunks, so that a large folder
 * does not block other requests.
 */
export function streamFolderPage(context: PageContext, folder: FolderPage): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const [before = "", after = ""] = String(renderFrame(context, folder)).split(String(MEMBERS));
  /** Text that is rendered but not yet sent. */
  let text = before;
  let sorted: readonly PageMember[] | undefined;
  const { actions, entered } = folder;
  const isSelectable = mayActOnMembers(actions);
  const isViewable = mayView(folder);
  const renderRow = createRowRenderer(
    context.texts,
    { order: folder.order, isSelectable, isViewable, actions },
    entered?.selected,
  );
  let position = 0;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (sorted !== undefined) await yieldToEventLoop();
    sorted ??= await sortMembers(folder.members ?? [], folder.order, formatsOf(context.texts).compareNames);
    for (let member = sorted[position]; member !== undefined; member = sorted[position]) {
      if (text.length >= CHUNK_CHARACTERS) break;
      text += renderRow(member);
      position += 1;
      if (position % ROWS_PER_CHUNK === 0 && position < sorted.length) text += CHUNK_END;
    }
    const isLast = position === sorted.length;
    controller.enqueue(encoder.encode(isLast ? text + after : text));
    text = "";
    if (isLast) controller.close();
  }

  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function renderFrame(context: PageContext, folder: FolderPage): SafeHtml {
  const { texts, config } = context;
  const { members, link, entered, downloadLimits, commandLimits } = folder;
  const title = folder.segments.at(-1) ?? toRootName(texts, folder);
  const url = toOrderedUrl("./", folder.order);
  const content = html`<main id="folder" data-texts="${JSON.stringify(texts.script)}" data-may="${toOffers(folder.actions).join(" ")}"${link && html` data-link="${link.id}"`} data-max-names="${downloadLimits.names}" data-max-bytes="${downloadLimits.bytes}" data-max-commands="${commandLimits.maxCommands}" data-max-json-bytes="${commandLimits.maxJsonBytes}" data-viewer="${toAssetPath(config.basePath, VIEWER_NAME)}">
${renderBar(texts, folder)}
${link && renderLinkLine(texts, link)}
${renderMessages(texts, folder)}
${renderMemberPanel(texts, folder)}
${hasUploadCard(folder) ? renderUploadCard(texts, url, folder.actions, link, entered?.sender) : undefined}
<section id="transfers" aria-live="polite" hidden></section>
<form id="members" method="post" action="${url}" enctype="multipart/form-data">
${members === undefined ? undefined : renderMembers(texts, folder, members)}
</form>
${folder.quota && renderQuota(texts, folder.quota)}
</main>
${ICONS}`;
  return renderPage(context, { title, content, head: renderScript(context) });
}

function renderMembers(texts: Texts, folder: FolderPage, members: readonly PageMember[]): SafeHtml {
  const { actions, order, segments } = folder;
  if (members.length === 0) {
    const hint = actions.upload || actions.createFolder ? html`<p>${texts.emptyFolderHint}</p>` : undefined;
    return html`<div class="empty">${icon("empty")}<p><strong>${texts.emptyFolder}</strong></p>${hint}</div>`;
  }
  const isSelectable = mayActOnMembers(actions);
  const caption = fillText(texts.membersOf, { folder: segments.at(-1) ?? toRootName(texts, folder) });
  const classes = ["files", isSelectable && "selectable", hasShortNames(members) && "short"];
  return html`${isSelectable ? renderDefaultAction(actions) : undefined}<table class="${classes.filter(Boolean).join(" ")}">
<caption class="unseen">${caption}</caption>
${renderTableHead(texts, order, isSelectable)}
<tbody>
${MEMBERS}</tbody>
</table>
${isSelectable ? renderMemberActions(texts, actions, folder.entered?.destination) : undefined}`;
}

/** Names up to this length fit in a narrow column, which has size and time next to it. */
const SHORT_NAME = 40;

function hasShortNames(members: readonly PageMember[]): boolean {
  return members.every(({ name }) => name.length <= SHORT_NAME);
}
