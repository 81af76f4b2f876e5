import { isMemberName } from "../../http/path-segment.ts";
import type { AccountContext } from "../../request/context.ts";
import type { SentFiles } from "../../views/folder-page.ts";

/** The parameter of a folder's URL that names a file which the last form has sent. */
const SENT = "sent";
/** The number of files that a URL names: clients and proxies limit its length. */
const MAX_NAMES = 10;

/** Names the files that a form has sent in the query of the page that follows, for accounts that cannot list them. */
export function addSentFiles(query: URLSearchParams, names: readonly string[]): void {
  // With one more name than it shows, the page knows that there are more.
  for (const name of names.slice(0, MAX_NAMES + 1)) query.append(SENT, name);
}

/** Removes the names of an earlier form. */
export function removeSentFiles(query: URLSearchParams): void {
  query.delete(SENT);
}

/**
 * Returns the files that the query names. A link may come from an attacker, so only files count that exist and that the
 * account may write: the page shows no other text from a URL.
 */
export async function readSentFiles({ files, path }: AccountContext, query: URLSearchParams): Promise<SentFiles> {
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
