import type { BigIntStats } from "node:fs";
import { link, unlink } from "node:fs/promises";
import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { hasConditions, meetsConditions } from "../conditions.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, systemCode } from "./errors.ts";
import { toEntry } from "./list.ts";
import { type LookUpOptions, type OpenFolder, withNameLock } from "./open-folder.ts";
import { hasRecords, removeProperties, withPropertiesMoved } from "./properties.ts";
import { renameMember, SMALL_BYTES } from "./system-calls.ts";

/**
 * Errors of file systems without hard links, and of files that have the maximum number of them. Windows returns
 * EISDIR. Android forbids hard links with EACCES. The folder itself is writable, because the temporary file was just
 * created in it. All other errors are failures.
 */
export const NO_HARD_LINKS: readonly string[] = [
  "EPERM",
  "EACCES",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
  "EXDEV",
  "EISDIR",
];

/**
 * Checks that a write to a name is allowed. Returns the stats of what is there now.
 * @throws StorageError `not-a-file` for a folder, `precondition-failed` if the conditions are not met.
 */
export async function checkTarget(
  folder: OpenFolder,
  name: string,
  conditions: WriteOptions,
  options?: LookUpOptions,
): Promise<BigIntStats | undefined> {
  const found = await folder.lookUp(name, options);
  if (found?.isDirectory()) throw new StorageError("not-a-file");
  const hasPassed = !hasConditions(conditions) || meetsConditions(found && toEntry(name, found)?.etag, conditions);
  if (!hasPassed) throw new StorageError("precondition-failed");
  return found;
}

/** A complete temporary file, and what it replaces. */
export interface FinishedWrite {
  readonly temporary: string;
  readonly name: string;
  /** What had the name when the write started. */
  readonly previous: BigIntStats | undefined;
  /** The temporary file. */
  readonly written: BigIntStats;
  /** The write started just now. */
  readonly isRecent: boolean;
  /** The system has no deferred work for the bytes, so the rename cannot take long. */
  readonly isQuick: boolean;
  /** Whether the change must survive a power failure. */
  readonly mustFlush: boolean;
  /** Throws `not-found` if the folder is no longer where it was when the write started. */
  readonly requirePlace?: (() => void) | undefined;
  /** Called when the file has its name, with what it has replaced. */
  readonly onReplaced?: ((replaced: StorageEntry | undefined) => void) | undefined;
}

/** What a commit has found and done. */
export interface Committed {
  /** Whether the file still has its temporary name too. */
  readonly isHardLinked: boolean;
  /** Whether members of the folder have properties, and the file may have those of what it has replaced. */
  readonly mayHaveProperties: boolean;
}

/**
 * Renames the temporary file to its final name, under the lock of that name and if the conditions still hold. It
 * replaces what had the name. A short write without conditions and without `onReplaced` does not look at that again,
 * where no member of the folder has properties: the system itself refuses to replace a folder.
 */
export async function commit(
  folder: OpenFolder,
  { temporary, name, previous, written, isRecent, isQuick, mustFlush, requirePlace, onReplaced }: FinishedWrite,
  options: WriteOptions,
): Promise<Committed> {
  return withNameLock(folder, name, async () => {
    // The properties may be of a file that has replaced `previous` meanwhile.
    const mayHaveProperties = await hasRecords(folder);
    const mustLook = hasConditions(options) || !isRecent || mayHaveProperties || onReplaced !== undefined;
    const found = mustLook ? await checkTarget(folder, name, options, { hasLock: true }) : previous;
    options.signal?.throwIfAborted();
    await folder.confirm();
    // Otherwise the file would appear where no client has put it: in the trash, or below the limit of another folder.
    requirePlace?.();
    const mustBeNew = options.ifNoneMatch === "*" && found === undefined;
    if (mustBeNew && (await hardLinkIfSupported(folder, temporary, name))) {
      onReplaced?.(undefined);
      return { isHardLinked: true, mayHaveProperties };
    }
    const isRenameQuick = isQuick && (found === undefined || found.size <= SMALL_BYTES);
    const replace = (): Promise<void> =>
      mapSystemErrors(renameMember(folder.at(temporary), folder.at(name), { isQuick: isRenameQuick }), {
        ENOENT: "parent-missing",
        ENOTDIR: "not-a-file",
        EISDIR: "not-a-file",
        EINVAL: "bad-name",
      });
    if (found === undefined || !mayHaveProperties) await replace();
    else {
      const [old, next] = [
        { folder, name, stats: found },
        { folder, name, stats: written },
      ] as const;
      await withPropertiesMoved(old, next, { mustFlush }, replace);
    }
    onReplaced?.(found && toEntry(name, found));
    await folder.confirm();
    return { isHardLinked: false, mayHaveProperties };
  });
}

/**
 * Removes a member that is not a folder, under the lock of its name, after `check` has passed.
 * @throws StorageError `not-found` if a folder has replaced the member. The system does not unlink folders: it reports
 *   EPERM except on Linux.
 */
export async function removeFile(folder: OpenFolder, name: string, check?: () => Promise<unknown>): Promise<void> {
  const removed = withNameLock(folder, name, async () => {
    await check?.();
    await folder.confirm();
    const stats = (await hasRecords(folder)) ? await folder.lookUp(name, { hasLock: true }) : undefined;
    const isFolder = async () => (await folder.lookUp(name, { hasLock: true }))?.isDirectory() ?? false;
    await unlink(folder.at(name)).catch(async (error: unknown) => {
      throw systemCode(error) === "EPERM" && (await isFolder()) ? new StorageError("not-a-file") : error;
    });
    if (stats !== undefined) await removeProperties(folder, stats).catch(() => undefined);
    await folder.confirm();
  });
  await mapErrorCode(mapSystemErrors(removed), "not-a-file", "not-found");
}

/**
 * Creates a hard link with the final name, which is atomic among all processes that share the disk. Returns `false` if
 * the file system has no hard links.
 */
async function hardLinkIfSupported(folder: OpenFolder, temporary: string, name: string): Promise<boolean> {
  const made = link(folder.at(temporary), folder.at(name)).then(() => true);
  const codes = { EEXIST: "precondition-failed", ENOENT: "parent-missing", EINVAL: "bad-name" } as const;
  return (await mapSystemErrors(ignoreErrors(made, ...NO_HARD_LINKS), codes)) ?? false;
}
