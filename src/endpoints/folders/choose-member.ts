import type { SelectedMember } from "../../archive/entries.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import type { AccountContext } from "../../request/context.ts";

/**
 * Checks that a member of the folder exists and that the account may read it, before it goes into an archive or to a
 * trigger. An archive that has started can no longer report a missing member (CONTRACT 4.6).
 * @throws StorageError `not-found`; HttpError `denied` for a file that may not be read, or a folder that may not be
 * listed.
 */
export async function chooseMember({ path, files }: AccountContext, name: string): Promise<SelectedMember> {
  const member = [...path.segments, name];
  if ((await files.kindOf(member)) !== "folder") {
    const entry = await files.stat(member, "read");
    if (entry === undefined) throw new StorageError("not-found");
    return { name, kind: "file", size: entry.size, modified: entry.modified };
  }
  await files.checkListing(member);
  return { name, kind: "folder" };
}
