import { hasCode, type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { copyContent, giveProperties, type MemberCopyOptions, takeProperties } from "./copies/copy-member.ts";
import { copyMembers } from "./copy-members.ts";
import { createFolderAt } from "./create-folder.ts";
import { mapMissingParent } from "./errors.ts";
import { placeMember } from "./move.ts";
import type { Place } from "./moves/steps.ts";
import { type OpenFolder, withFolder, withNameLock } from "./open-folder.ts";
import { removeFolder, tryUnlink } from "./remove.ts";
import { keepTouching, releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";

/** How a file or folder is copied. */
export interface CopyOptions
  extends MemberCopyOptions,
    Pick<TransferOptions, "kind" | "ifMatch" | "replace" | "onRead"> {
  /** Those of the file or folder itself. */
  readonly properties: Properties;
}

/**
 * Copies a file or folder to a place, all or nothing: first to a temporary name next to it, which is then renamed.
 * Symlinks in a folder, and members that disappear meanwhile, are left out.
 */
export async function copyMember(
  from: Place,
  to: Place,
  kind: "file" | "folder",
  options: CopyOptions,
): Promise<Placement> {
  const { folder, name } = to;
  const { replace = false, durability, onRead, ifMatch } = options;
  const requirePlace = folder.watchPath?.();
  const previous = await folder.lookUp(name);
  if (!replace && previous !== undefined) throw new StorageError("already-exists");
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    if (kind === "file") {
      onRead?.();
      const conditions = { kind, previous, ...(ifMatch && { ifMatch }) };
      await copyContent(from, { folder, name: temporary }, options, conditions);
    } else {
      await createFolderAt(folder, temporary);
      const stopTouching = keepTouching(folder, temporary);
      await withFolder(from.folder.enter(from.name), (source) =>
        withFolder(folder.enter(temporary), (target) => copyMembers({ source, target }, options)),
      ).finally(stopTouching);
    }
    const mustFlush = durability === "fsync";
    await giveProperties(folder, temporary, options.properties, mustFlush);
    const place = async (): Promise<Placement> => {
      // Otherwise the copy would appear where no client has put it.
      requirePlace?.();
      options.signal?.throwIfAborted();
      return placeMember({ folder, name: temporary }, to, kind, { replace, mustFlush });
    };
    return await mapMissingParent(withNameLock(folder, name, place));
  } catch (error) {
    if (options.properties.size > 0) await takeProperties(folder, temporary).catch(() => undefined);
    isRemoved = await (kind === "file" ? tryUnlink(folder, temporary) : tryRemoveFolder(folder, temporary));
    throw error;
  } finally {
    releaseTemporaryName(temporary, isRemoved);
  }
}

/** Removes a folder. Returns whether there is none now. */
function tryRemoveFolder(folder: OpenFolder, name: string): Promise<boolean> {
  return removeFolder(folder, name).then(
    () => true,
    (reason) => hasCode(reason, "not-found"),
  );
}
