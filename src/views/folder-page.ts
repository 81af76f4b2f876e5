import type { DoneCode, Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import { fillText } from "../platform/fill-text.ts";
import { SCRIPT_NAME, toAssetPath } from "./assets.ts";
import {
  type EnteredValues,
  type FolderActions,
  mayActOnMembers,
  renderMemberActions,
  renderRename,
  renderTools,
} from "./folder-actions.ts";
import { formatsOf } from "./formats.ts";
import { ICONS, icon } from "./icons.ts";
import { type MemberOrder, type PageMember, sortMembers } from "./member-order.ts";
import { createRowRenderer, type RowActions, renderTableHead } from "./member-rows.ts";
import { type PageContext, renderPage } from "./page.ts";
import { type PageQuota, renderQuota } from "./quota-meter.ts";
import { type ShownError, toErrorText } from "./texts.ts";
import { type PageLink, renderLinkLine } from "./visitor-parts.ts";

/** What the page of a folder shows. */
export interface FolderPage {
  /** The names from the root of the account, or of the link, to the folder. */
  readonly segments: readonly string[];
  /** Absent if the account must not list them. */
  readonly members: readonly PageMember[] | undefined;
  readonly order: MemberOrder;
  readonly actions: FolderActions;
  /** Absent on the pages of a link. */
  readonly username?: string;
  readonly links: SessionLinks;
  /** What is used of the quota around the folder. Absent: there is none, or it is not known yet. */
  readonly quota?: PageQuota | undefined;
  /** The link that the page belongs to. Absent: a page of an account. */
  readonly link?: PageLink | undefined;
  /** The result of the last form. */
  readonly done?: DoneCode | undefined;
  /** The files that the last form has sent, if the account must not list them. */
  readonly sent?: SentFiles | undefined;
  /** The problems of the last form. */
  readonly problems?: readonly FolderProblem[];
  /** What the user has entered in it. */
  readonly entered?: EnteredValues | undefined;
}

/** Files that a form has sent. */
export interface SentFiles {
  /** Without their size in a drop folder, which tells nothing of them. */
  readonly files: readonly { readonly name: string; readonly size?: number }[];
  /** Whether there are more than those. */
  readonly hasMore: boolean;
}

/** A problem of a form. */
export interface FolderProblem {
  /** The member that has the problem. */
  readonly target?: string;
  /** The failure. The page shows its text in its own language. */
  readonly error: ShownError;
}

/** The URLs that end a browser's session, change its account's password, and list its links and its trash. */
export interface SessionLinks {
  readonly logout?: string;
  /** The list of the account's links. */
  readonly shared?: string;
  /** The trash of the account. */
  readonly trash?: string;
  readonly passwordUpdate?: string;
}

/**
 * The minimum number of characters in a chunk; the last row may exceed it. A name appears seven times in its row, and
 * escaping can make it six times as long each time.
 */
const CHUNK_CHARACTERS = 65_536;

/** The page cuts the target of a problem to this length, which is the longest name of common systems. */
const MAX_SHOWN_CHARACTERS = 255;
/**
 * The maximum number of parent folders in the breadcrumbs, in addition to the home folder. Each link has three
 * characters per level.
 */
const MAX_CRUMBS = 50;

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
  const renderRow = createRowRenderer(context.texts, toRowActions(folder), folder.entered?.selected);
  let position = 0;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (sorted !== undefined) await yieldToEventLoop();
    sorted ??= await sortMembers(folder.members ?? [], folder.order);
    for (let member = sorted[position]; member !== undefined; member = sorted[position]) {
      if (text.length >= CHUNK_CHARACTERS) break;
      text += renderRow(member);
      position += 1;
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
  const title = folder.segments.at(-1) ?? toRootName(context, folder);
  const content = html`<main id="folder" data-texts="${JSON.stringify(texts.script)}"${folder.link && html` data-link="${folder.link.id}"`}>
${renderCrumbs(context, folder)}
${renderHeading(context, folder, title)}
${folder.link && renderLinkLine(texts, folder.link, mayDownloadAll(folder))}
${renderMessages(context, folder)}
${folder.entered?.rename === undefined ? undefined : renderRename(texts, folder.entered.rename)}
${renderTools(texts, folder.actions, folder.link, folder.entered?.sender)}
<section id="transfers" aria-live="polite" hidden></section>
<form id="members" method="post" action="./" enctype="multipart/form-data">
${folder.members === undefined ? undefined : renderMembers(context, folder, folder.members.length === 0)}
</form>
${folder.quota && renderQuota(texts, folder.quota)}
</main>
${ICONS}`;
  return renderPage(context, {
    title,
    content,
    head: html`<script type="module" src="${toAssetPath(config.basePath, SCRIPT_NAME)}"></script>`,
    navigation: folder.username === undefined ? undefined : renderNavigation(context, folder.username, folder.links),
  });
}

function renderHeading({ texts }: PageContext, { actions: { share } }: FolderPage, title: string): SafeHtml {
  const heading = html`<h1><bdi>${title}</bdi></h1>`;
  if (share === undefined) return heading;
  const { links } = texts;
  return html`<div class="heading">${heading}<a class="button" href="${share}" aria-label="${links.shareFolder}">${links.share}</a></div>`;
}

/** The name of the root folder. */
function toRootName({ texts }: PageContext, { link }: FolderPage): string {
  return link === undefined || link.name === "" ? texts.home : link.name;
}

/** Whether the page offers an archive of all that it shows. */
function mayDownloadAll({ members, actions }: FolderPage): boolean {
  return actions.download && members !== undefined && members.length > 0;
}

/** Renders the breadcrumbs of the parent folders. The folder itself is the heading. */
function renderCrumbs(context: PageContext, folder: FolderPage): SafeHtml | undefined {
  const { texts } = context;
  const { segments } = folder;
  if (segments.length === 0) return undefined;
  const above = segments.slice(0, -1);
  const nearest = above.slice(-MAX_CRUMBS);
  const toItem = (name: string, levels: number): SafeHtml =>
    html`<li><a href="${"../".repeat(levels)}"><bdi>${name}</bdi></a></li>`;
  const items = [
    toItem(toRootName(context, folder), segments.length),
    nearest.length < above.length ? html`<li>…</li>` : undefined,
    nearest.map((name, index) => toItem(name, nearest.length - index)),
  ];
  return html`<nav class="crumbs" aria-label="${texts.folderPath}"><ol>${items}</ol></nav>`;
}

function renderMessages({ texts }: PageContext, { done, sent, problems = [] }: FolderPage): SafeHtml | undefined {
  if (problems.length > 0) {
    const items = problems.map(({ target, error }) => {
      const about = target === undefined ? undefined : html`<bdi>${toShown(target)}</bdi>: `;
      return html`<li>${about}${toErrorText(texts, error)}</li>`;
    });
    // A problem without a target concerns the form itself: no item failed.
    const heading = problems.some(({ target }) => target !== undefined) ? html`<p>${texts.problems}</p>` : undefined;
    return html`<div role="alert" class="notice problem">${heading}<ul>${items}</ul></div>`;
  }
  if (done === undefined) return undefined;
  if (sent === undefined || sent.files.length === 0) {
    return html`<p role="status" class="notice success">${texts.done[done]}</p>`;
  }
  return html`<div role="status" class="notice success"><p>${texts.done[done]}</p>${renderSent(texts, sent)}</div>`;
}

function renderSent(texts: Texts, { files, hasMore }: SentFiles): SafeHtml {
  const formats = formatsOf(texts);
  const items = files.map(({ name, size }) => {
    const shownSize = size === undefined ? undefined : html` (${formats.size(size)})`;
    return html`<li><bdi>${name}</bdi>${shownSize}</li>`;
  });
  return html`<ul>${items}${hasMore ? html`<li>…</li>` : undefined}</ul>`;
}

/** Shortens a target. A form may send one that is much longer than any name. */
function toShown(target: string): string {
  return target.length > MAX_SHOWN_CHARACTERS ? `${target.slice(0, MAX_SHOWN_CHARACTERS)}…` : target;
}

function renderMembers(context: PageContext, folder: FolderPage, isEmpty: boolean): SafeHtml {
  const { texts } = context;
  const { actions, order, segments } = folder;
  if (isEmpty) {
    const hint = actions.upload || actions.createFolder ? html`<p>${texts.emptyFolderHint}</p>` : undefined;
    return html`<div class="empty">${icon("empty")}<p><strong>${texts.emptyFolder}</strong></p>${hint}</div>`;
  }
  const rowActions = toRowActions(folder);
  const { isSelectable } = rowActions;
  const caption = fillText(texts.membersOf, { folder: segments.at(-1) ?? toRootName(context, folder) });
  return html`${isSelectable ? renderMemberActions(texts, actions, folder.entered?.destination) : undefined}
<table${isSelectable ? html` class="selectable${actions.move ? " renamable" : ""}"` : undefined}>
<caption class="unseen">${caption}</caption>
${renderTableHead(texts, order, rowActions)}
<tbody>
${MEMBERS}</tbody>
</table>`;
}

function toRowActions({ actions }: FolderPage): RowActions {
  return { isSelectable: mayActOnMembers(actions), isRenamable: actions.move };
}

function renderNavigation({ texts }: PageContext, username: string, links: SessionLinks): SafeHtml {
  const { logout, passwordUpdate, shared, trash } = links;
  const linksLink = html`<li><a href="${shared}">${texts.links.list}</a></li>`;
  const trashLink = html`<li><a href="${trash}">${texts.trash.list}</a></li>`;
  const passwordLink = html`<li><a href="${passwordUpdate}">${texts.changePassword}</a></li>`;
  const logoutForm = html`<li><form method="post" action="${logout}"><button>${texts.logOut}</button></form></li>`;
  return html`<ul class="account">
<li class="who"><bdi>${username}</bdi></li>
${shared === undefined ? undefined : linksLink}
${trash === undefined ? undefined : trashLink}
${passwordUpdate === undefined ? undefined : passwordLink}
${logout === undefined ? undefined : logoutForm}
</ul>`;
}
