import { isMemberName } from "../../http/path-segment.ts";
import type { AccountContext } from "../../request/context.ts";
import { isInDropFolder } from "../../transfers/links/drop-folder.ts";
import type { SentFiles } from "../../views/folder-page.ts";

/** The parameter of a folder's URL that names a file which the last form has sent. */
const SENT = "sent";
/** The number of files that a URL names: clients and proxies limit its length. */
const MAX_NAMES = 10;

/** The number of characters of all names that are sealed. */
const MAX_SEALED_CHARACTERS = 1000;

/** Names the files that a form has sent in the query of the page that follows, for clients that cannot list them. */
export async function addSentFiles(
  context: AccountContext,
  query: URLSearchParams,
  names: readonly string[],
): Promise<void> {
  if (!isInDropFolder(context)) {
    // With one more name than it shows, the page knows that there are more.
    for (const name of names.slice(0, MAX_NAMES + 1)) query.append(SENT, name);
  } else if (context.link !== undefined && context.links !== undefined) {
    const text = JSON.stringify(toSealed(context.link.record.id, names));
    query.append(SENT, await context.links.sealed.sent.seal(text));
  }
}

/** Removes the names of an earlier form. */
export function removeSentFiles(query: URLSearchParams): void {
  query.delete(SENT);
}

/**
 * Returns the files that the query names. The URL may come from an attacker, so the page shows no other text from it:
 * only files count that exist and that the account may write. A drop folder does not reveal what exists, so there only
 * names count that this service has sealed.
 */
export async function readSentFiles(context: AccountContext, query: URLSearchParams): Promise<SentFiles> {
  const { files, path } = context;
  if (isInDropFolder(context)) return readSealed(context, query.get(SENT));
  const names = query.getAll(SENT).slice(0, MAX_NAMES + 1);
  const shown = await Promise.all(names.slice(0, MAX_NAMES).map(find));
  return { files: shown.filter((file) => file !== undefined), hasMore: names.length > MAX_NAMES };

  async function find(name: string): Promise<SentFiles["files"][number] | undefined> {
    if (!isMemberName(name)) return undefined;
    try {
      const entry = await files.stat([...path.segments, name], "write");
      return entry && { name, size: entry.size };
    } catch {
      // The message of success must not fail because of a file that was removed or replaced meanwhile.
      return undefined;
    }
  }
}

/** What the query of a drop folder has. */
interface SealedNames {
  readonly id: string;
  readonly names: readonly string[];
  readonly hasMore: boolean;
}

function toSealed(id: string, names: readonly string[]): SealedNames {
  const named: string[] = [];
  for (const name of names) {
    if (named.length === MAX_NAMES || [...named, name].join("").length > MAX_SEALED_CHARACTERS) break;
    named.push(name);
  }
  return { id, names: named, hasMore: named.length < names.length };
}

async function readSealed({ links, link }: AccountContext, sealed: string | null): Promise<SentFiles> {
  const text = sealed === null ? undefined : await links?.sealed.sent.open(sealed);
  const found = text === undefined ? undefined : (JSON.parse(text) as SealedNames);
  if (found === undefined || found.id !== link?.record.id) return { files: [], hasMore: false };
  return { files: found.names.map((name) => ({ name })), hasMore: found.hasMore };
}
