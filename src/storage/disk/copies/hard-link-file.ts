import { link, unlink } from "node:fs/promises";
import { StorageError, type TransferOptions } from "../../../contracts/storage-adapter.ts";
import { meetsConditions } from "../../conditions.ts";
import { NO_HARD_LINKS } from "../commit.ts";
import { systemCode, toStorageError } from "../errors.ts";
import { statMember } from "../list.ts";
import type { Place } from "../moves/steps.ts";

/**
 * Gives a file a second name with a hard link, so that the copy has the same bytes. No write of this storage changes a
 * file in place. Returns `false` if the file system has no hard links there.
 * @throws StorageError `not-found`, `parent-missing`, `already-exists`, `precondition-failed`
 */
export async function hardLinkFile(from: Place, to: Place, { ifMatch }: TransferOptions): Promise<boolean> {
  await Promise.all([from.folder.confirm(), to.folder.confirm()]);
  const target = to.folder.at(to.name);
  try {
    await link(from.folder.at(from.name), target);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (NO_HARD_LINKS.includes(code)) return false;
    // The system does not say which of the two is missing.
    const isSourceThere = code === "ENOENT" && (await statMember(from.folder, from.name)) !== undefined;
    throw toStorageError(error, isSourceThere ? { ENOENT: "parent-missing" } : {});
  }
  try {
    await Promise.all([from.folder.confirm(), to.folder.confirm()]);
    const copy = await statMember(to.folder, to.name);
    // A symlink that has come to the path meanwhile gets the hard link itself.
    if (copy?.kind !== "file") throw new StorageError("not-found");
    if (!meetsConditions(copy.etag, ifMatch ? { ifMatch } : {})) throw new StorageError("precondition-failed");
    return true;
  } catch (error) {
    await unlink(target).catch(() => undefined);
    throw error;
  }
}
