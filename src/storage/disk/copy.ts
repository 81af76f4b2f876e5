import { hasCode, type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { giveProperties, type MemberCopyOptions } from "./copies/copy-member.ts";
import { copyMembers } from "./copy-members.ts";
import { createFolderAt } from "./create-folder.ts";
import { type Place, placeMember } from "./move.ts";
import { type OpenFolder, withFolder, withNameLock } from "./open-folder.ts";
import { removeFolder } from "./remove.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";

/** How a folder is copied. */
export interface CopyOptions extends MemberCopyOptions, Pick<TransferOptions, "replace"> {
  /** Those of the folder itself. */
  readonly properties: Properties;
}

/**
 * Copies a folder to a place, all or nothing: first to a temporary folder next to it, which is then renamed. Symlinks,
 * and members that disappear meanwhile, are left out.
 */
export async function copyFolderTo(source: OpenFolder, to: Place, options: CopyOptions): Promise<Placement> {
  const { folder, name } = to;
  const { replace = false } = options;
  if (!replace && (await folder.lookUp(name)) !== undefined) throw new StorageError("already-exists");
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    await createFolderAt(folder, temporary);
    await withFolder(folder.enter(temporary), (target) => copyMembers({ source, target }, options));
    const mustFlush = options.durability === "fsync";
    await giveProperties(folder, temporary, options.properties, mustFlush);
    const from = { folder, name: temporary };
    return await withNameLock(folder, name, () => placeMember(from, to, "folder", { replace, mustFlush }));
  } catch (error) {
    isRemoved = await removeFolder(folder, temporary).then(
      () => true,
      (reason) => hasCode(reason, "not-found"),
    );
    throw error;
  } finally {
    releaseTemporaryName(temporary, isRemoved);
  }
}
