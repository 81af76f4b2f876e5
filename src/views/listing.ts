import type { StorageEntry } from "../contracts/storage-adapter.ts";
import { html, type SafeHtml } from "../http/html.ts";
import type { ListingEntry } from "../wire/listing.ts";
import { page } from "./page.ts";

/** How many members are turned into one chunk of the JSON listing. */
const MEMBERS_PER_CHUNK = 256;

/**
 * The JSON listing of a folder (2.1), made as it is read: whatever the number of members, only a few are held.
 * Cancelling it ends the iteration of `members`.
 */
export function streamJsonListing(members: AsyncIterator<StorageEntry>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let separator = '{"content":[';

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    let text = "";
    for (let count = 0; count < MEMBERS_PER_CHUNK; count++) {
      const next = await members.next();
      if (next.done === true) {
        controller.enqueue(encoder.encode(`${text}${separator === "," ? "" : separator}]}`));
        controller.close();
        return;
      }
      text += separator + JSON.stringify(toListingEntry(next.value));
      separator = ",";
    }
    controller.enqueue(encoder.encode(text));
  }

  async function cancel(): Promise<void> {
    await members.return?.();
  }

  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** One member as the JSON listing shows it (2.1). */
function toListingEntry({ name, kind, modified, size }: StorageEntry): ListingEntry {
  const isFolder = kind === "folder";
  return { name, is_directory: isFolder, modified: modified.getTime() / 1000, size: isFolder ? 0 : size };
}

/** Where a browser's session ends, and where its account changes the password. */
export interface SessionLinks {
  readonly logout?: string;
  readonly passwordUpdate?: string;
}

/** Stands in the page where the members go. */
const MEMBERS = html`<!--members-->`;

/** The HTML listing of a folder (4.6): folders first, by name (CONTRACT 3.3). The members are rendered as they are read. */
export function streamListingPage(
  serverPath: string,
  members: readonly StorageEntry[],
  links: SessionLinks = {},
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const [before = "", after = ""] = String(renderFrame(serverPath, links)).split(String(MEMBERS));
  const sorted = [...members].sort(compareMembers);
  let position = 0;

  function pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const chunk = sorted
      .slice(position, position + MEMBERS_PER_CHUNK)
      .map(renderMember)
      .join("");
    const isFirst = position === 0;
    position += MEMBERS_PER_CHUNK;
    const isLast = position >= sorted.length;
    controller.enqueue(encoder.encode(`${isFirst ? before : ""}${chunk}${isLast ? after : ""}`));
    if (isLast) controller.close();
  }

  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function renderFrame(serverPath: string, { logout, passwordUpdate }: SessionLinks): SafeHtml {
  const parent = serverPath === "/" ? undefined : html`<li><a href="../">..</a></li>\n`;
  const logoutForm = html`<form method="post" action="${logout}"><button>Log out</button></form>`;
  const passwordLink = html`<p><a href="${passwordUpdate}">Change the password</a></p>`;
  return page(
    serverPath,
    html`<h1>${serverPath}</h1>
<ul>
${parent}${MEMBERS}</ul>
${passwordUpdate === undefined ? undefined : passwordLink}
${logout === undefined ? undefined : logoutForm}`,
  );
}

function renderMember({ name, kind, modified, size }: StorageEntry): SafeHtml {
  const slash = kind === "folder" ? "/" : "";
  const details = kind === "folder" ? "" : `, ${size} bytes`;
  // "./" keeps a name with a colon from being taken for a scheme (RFC 3986 4.2).
  return html`<li><a href="./${encodeURIComponent(name)}${slash}">${name}${slash}</a> <small>${modified.toISOString()}${details}</small></li>
`;
}

function compareMembers(one: StorageEntry, other: StorageEntry): number {
  const byKind = Number(other.kind === "folder") - Number(one.kind === "folder");
  if (byKind !== 0) return byKind;
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
