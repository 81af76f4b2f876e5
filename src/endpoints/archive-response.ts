import { type Chosen, openFolder, walkMembers } from "../archive/entries.ts";
import { toSafeName } from "../archive/entry-names.ts";
import { streamZip } from "../archive/zip.ts";
import { isStorageError, StorageError } from "../contracts/storage-adapter.ts";
import { toAttachment } from "../http/content-disposition.ts";
import { streamResponse } from "../http/responses.ts";
import type { AccountExchange } from "./endpoint.ts";

/**
 * The addressed folder as a ZIP archive: whole, with entries named by the account's full paths (4.2), or only `members` of it that
 * `chooseMember` has found fit, named relative to it (4.6; CONTRACT 3.4, 4.6). It saves as `<folder>.zip`, the root as `<account>.zip`.
 * A folder that is not there, or may not be listed, fails before the first byte; what is denied further below is left out.
 */
export async function archiveResponse(exchange: AccountExchange, members?: readonly Chosen[]): Promise<Response> {
  const { path, files, account, report } = exchange;
  const entries =
    members === undefined
      ? await openFolder(files, path.segments, report).catch(withoutFolder)
      : walkMembers(files, path.segments, members, report);
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
