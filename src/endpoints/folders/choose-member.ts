import type { Chosen } from "../../archive/entries.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import type { AccountContext } from "../../request/context.ts";

/**
 * A member of the addressed folder that the account may read: what can be in an archive, and be handed to a trigger. An archive could not
 * tell any more that something is missing once it has begun (CONTRACT 4.6).
 * @throws StorageError `not-found`; HttpError `denied` for a file that may not be read, or a folder that may not be listed.
 */
export async function chooseMember({ path, files }: AccountContext, name: string): Promise<Chosen> {
  const member = [...path.segments, name];
  if ((await files.kindOf(member)) !== "folder") {
    const entry = await files.stat(member, "read");
    if (entry === undefined) throw new StorageError("not-found");
    return { name, kind: "file", size: entry.size, modified: entry.modified };
  }
  const listing = files.list(member)[Symbol.asyncIterator]();
  // What forbids a listing does so at its first step.
  await listing.next();
  await listing.return?.();
  return { name, kind: "folder" };
}
