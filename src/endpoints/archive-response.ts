import { type Chosen, openFolder, walkMembers } from "../archive/entries.ts";
import { toSafeName } from "../archive/entry-names.ts";
import { streamZip } from "../archive/zip.ts";
import { isStorageError, StorageError } from "../contracts/storage-adapter.ts";
import { toAttachment } from "../http/content-disposition.ts";
import { HttpError } from "../http/http-error.ts";
import { streamResponse } from "../http/responses.ts";
import { isMemberName } from "../http/segment.ts";
import type { AccountExchange } from "./endpoint.ts";

/**
 * The addressed folder as a ZIP archive: whole, with entries named by the account's full paths (4.2), or only `members` of it, named
 * relative to it (4.6; CONTRACT 3.4, 4.6). It saves as `<folder>.zip`, the root as `<account>.zip`.
 *
 * Failures before the first byte: a folder or member that is not there, a folder that may not be listed or a member that may not be read
 * (`denied`; what is denied further below is left out), a bad name or no member at all (`malformed`).
 */
export async function archiveResponse(exchange: AccountExchange, members?: readonly string[]): Promise<Response> {
  const { path, files, account, report } = exchange;
  const entries =
    members === undefined
      ? await openFolder(files, path.segments, report).catch(withoutFolder)
      : walkMembers(files, path.segments, await choose(exchange, members), report);
  const name = toSafeName(path.segments.at(-1) ?? account.name);
  return streamResponse(200, streamZip(entries), {
    "Content-Type": "application/zip",
    "Content-Disposition": toAttachment(`${name}.zip`),
  });
}

/** A file's name with a trailing `/` is nothing (CONTRACT 2.5). */
function withoutFolder(error: unknown): never {
  const isFile = isStorageError(error) && error.code === "not-a-folder";
  throw isFile ? new StorageError("not-found", "a file, asked for as a folder", { cause: error }) : error;
}

/** The members by name, each once. All names are checked before the first is looked up. */
async function choose({ path, files }: AccountExchange, names: readonly string[]): Promise<readonly Chosen[]> {
  if (names.length === 0) throw new HttpError("malformed", "No member is selected.");
  if (!names.every(isMemberName)) throw new HttpError("malformed", "This is not a valid name.");
  if ((await files.kindOf(path.segments)) !== "folder") throw new StorageError("not-found");
  const chosen: Chosen[] = [];
  for (const name of new Set(names)) {
    chosen.push({ name, kind: await requireReadable(files, [...path.segments, name]) });
  }
  return chosen;
}

async function requireReadable(files: AccountExchange["files"], member: readonly string[]): Promise<"file" | "folder"> {
  if ((await files.kindOf(member)) === "folder") {
    const listing = files.list(member)[Symbol.asyncIterator]();
    await listing.next();
    await listing.return?.();
    return "folder";
  }
  if ((await files.stat(member, "read")) === undefined) throw new StorageError("not-found");
  return "file";
}
