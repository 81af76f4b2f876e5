import { statSync } from "node:fs";
import { resolve } from "node:path";
import { toMembers } from "../contracts/member-batches.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import {
  type ByteRange,
  type ContentLocation,
  type CreateFolderOptions,
  hasCode,
  type ListOptions,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { isOfKind, meetsConditions } from "./conditions.ts";
import { cleanUpTemporaryFiles } from "./disk/clean-up.ts";
import { removeFile } from "./disk/commit.ts";
import { createDiskCopyAndMove } from "./disk/copy-and-move.ts";
import { createFolderAt, createOwnedFolder } from "./disk/create-folder.ts";
import { mapErrorCode, mapSystemErrors, systemCode, toStorageError, undefinedIfMissing } from "./disk/errors.ts";
import { createFolderTree } from "./disk/folder-tree.ts";
import { findFreeBytes } from "./disk/free-bytes.ts";
import { readGuard } from "./disk/latency-guard.ts";
import { describeMember, listFirstMembers, listMembers, statMember } from "./disk/list.ts";
import { type LookUpOptions, type OpenFolder, withFolder, withNameLock } from "./disk/open-folder.ts";
import { findOwner } from "./disk/owner.ts";
import { hasRecords, removeProperties } from "./disk/properties.ts";
import { readMember, readMemberSync } from "./disk/read.ts";
import { checkEmpty, removeFolder } from "./disk/remove.ts";
import { followSymlinks } from "./disk/symlinks.ts";
import { createDiskUploads, createMovedUploadCleanUp } from "./disk/uploads.ts";
import { type Durability, writeMember } from "./disk/write.ts";
import { noteReplacingWrite } from "./replacing-write.ts";

export type { Durability };

/** Options of {@link createDiskStorage}. */
export interface DiskStorageOptions {
  /**
   * Path of an existing folder, whose content is the storage. A relative path is resolved against the working directory
   * when the storage is created.
   */
  readonly root: string;
  /**
   * Which failures an acknowledged change survives.
   *
   * `"fsync"`: also a power failure. The storage flushes bytes and names to the device before the promise resolves.
   * `"rename"`: the end of the process. The storage renames the finished file and flushes nothing.
   *
   * Default `"fsync"`.
   */
  readonly durability?: Durability;
  /**
   * How symlinks are treated.
   *
   * `"hidden"`: a symlink is reported with the kind `"link"` and never followed.
   * `"inside"`: a symlink whose target lies in the root is followed, both when it is read and on the way to a member.
   * All other symlinks, and those that lead back to a folder that the path already went through, are hidden.
   *
   * In both modes a write to a symlink replaces the symlink, and a removal removes the symlink. Default `"hidden"`.
   */
  readonly links?: "hidden" | "inside";
}

/**
 * Creates a storage from a folder on disk, for Node and compatible runtimes.
 *
 * The storage shows only regular files, folders and symlinks. It does not show pipes, sockets and devices, names that
 * are not UTF-8, and names that begin with `.fileferry-` and end in `.tmp`: these are the temporary files of unfinished
 * writes, next to their targets. The storage removes them in the background, and when a `list` meets them: those of
 * this machine when their process has ended, those of other machines when they have been unchanged for an hour. Nor
 * does it show the folders `.fileferry-properties`, which have the properties of the members next to them.
 *
 * On Linux no symlink can lead a step out of the root, even if another process swaps folders meanwhile. On other
 * systems the storage compares paths before and after each step. Conditions of writes are exact among the storages of
 * one process. `ifNoneMatch: "*"` is exact also among processes if the file system has hard links. If the last `fsync`
 * after a change fails, the method rejects with `unavailable`, although the change stands.
 *
 * @throws TypeError naming the option that is wrong, also if the root is missing or is not a folder.
 */
export function createDiskStorage(options: DiskStorageOptions): StorageAdapter {
  const { root, durability, links } = checkOptions(options);
  const tree = createFolderTree(root);
  void cleanUpTemporaryFiles(tree, locate);

  /** Names that are not valid are left for the caller to refuse: a symlink could be followed by its short name. */
  async function locate(segments: readonly string[]): Promise<readonly string[]> {
    const mayHaveSymlinks = links === "inside" && segments.length > 0 && segments.every(tree.isValidName);
    return mayHaveSymlinks ? followSymlinks(root, segments) : segments;
  }

  async function statAt(segments: readonly string[], options?: LookUpOptions): Promise<StorageEntry | undefined> {
    const name = segments.at(-1);
    if (name !== undefined && !tree.isValidName(name)) return undefined;
    const found = withFolder(tree.open(segments.slice(0, -1)), (folder) =>
      describeMember(folder, name ?? ".", options),
    );
    return mapSystemErrors(found).catch(undefinedIfMissing);
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const segments = toPathSegments(path);
    const located = await locate(segments);
    const entry = await statAt(located);
    if (entry === undefined) return undefined;
    // If not, a symlink is on the way at most.
    const isFollowed = located !== segments && (await isSymlink(segments));
    return { ...entry, name: segments.at(-1) ?? "", ...(isFollowed && { isFollowed }) };
  }

  /** Whether there is a symlink at a path that may lead through others. */
  async function isSymlink(segments: readonly string[]): Promise<boolean> {
    const member = await statAt([...(await locate(segments.slice(0, -1))), ...segments.slice(-1)]);
    return member?.kind === "link";
  }

  /** Returns a member of a folder or, if the member is a symlink to follow, the entry of its target. */
  async function followed(
    segments: readonly string[],
    member: StorageEntry,
    options?: LookUpOptions,
  ): Promise<StorageEntry> {
    if (links === "hidden" || member.kind !== "link") return member;
    const target = await statAt(await locate([...segments, member.name]), options);
    if (target === undefined || target.kind === "link") return member;
    return { ...target, name: member.name, isFollowed: true };
  }

  async function* listBatches(path: string, options?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    const segments = toPathSegments(path);
    const located = await locate(segments);
    const folder = await tree.open(located).catch(async (error) => {
      throw (await statAt(located)) === undefined ? new StorageError("not-found", undefined, { cause: error }) : error;
    });
    try {
      // A symlink that is followed may be a file, a folder, or nothing: only its target shows which.
      const isPart = options !== undefined && links === "hidden";
      const batches = isPart
        ? listFirstMembers(folder, tree.isValidName, options)
        : listMembers(folder, tree.isValidName);
      for await (const entries of batches) {
        yield links === "hidden" ? entries : await Promise.all(entries.map((entry) => followed(segments, entry)));
      }
    } catch (error) {
      throw toStorageError(error);
    } finally {
      folder.close();
    }
  }

  const list = (path: string, options?: ListOptions): AsyncIterable<StorageEntry> =>
    toMembers(() => listBatches(path, options));

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const segments = toPathSegments(path);
    if (segments.length === 0) throw new StorageError("not-a-file", "The root is a folder, not a file.");
    // If there are no symlinks to follow, this path does not create a promise.
    const located = links === "inside" ? await locate(segments) : segments;
    if (!tree.isValidName(located.at(-1) ?? "")) throw new StorageError("not-found");
    const name = segments.at(-1) ?? "";
    const found = readSync(located, name, range);
    if (found !== undefined) return found;
    const parent = mapErrorCode(tree.open(located.slice(0, -1)), "not-a-folder", "not-found");
    return withFolder(parent, (folder) => readMember(folder, located.at(-1) ?? "", name, range));
  }

  /**
   * Reads synchronously. Returns `undefined` if the disk is slow, which the first of the two steps may show, or if the
   * attempt fails.
   */
  function readSync(located: readonly string[], name: string, range?: ByteRange): StoredFile | undefined {
    if (!readGuard.isFast()) return undefined;
    const folder = readGuard.timed(() => tree.openSync(located.slice(0, -1)));
    try {
      if (folder === undefined || !readGuard.isFast()) return undefined;
      return readGuard.timed(() => readMemberSync(folder, located.at(-1) ?? "", name, range));
    } finally {
      folder?.close();
    }
  }

  /** Opens the parent folder of a path. Returns it with the last name of the path. */
  async function openParent(path: string, ifRoot: StorageErrorCode): Promise<{ parent: OpenFolder; name: string }> {
    const segments = toPathSegments(path);
    const name = segments.pop();
    if (name === undefined) throw new StorageError(ifRoot, "The root folder already exists.");
    if (!tree.isValidName(name)) throw new StorageError("bad-name");
    const located = links === "inside" ? await locate(segments) : segments;
    const parent = await mapErrorCode(tree.open(located), "not-found", "parent-missing");
    return { parent, name };
  }

  async function locateContent(path: string): Promise<ContentLocation | undefined> {
    const segments = toPathSegments(path);
    const isPlain = links === "hidden" || (await locate(segments)) === segments;
    return isPlain ? { storage, path, medium: "disk", freeBytes: () => findFreeBytes(root, segments) } : undefined;
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    writeOptions: WriteOptions,
    onReplaced?: (replaced: StorageEntry | undefined) => void,
  ): Promise<StorageEntry> {
    writeOptions.signal?.throwIfAborted();
    const { parent, name } = await openParent(path, "not-a-file");
    const written = withFolder(parent, (folder) =>
      writeMember(folder, name, content, writeOptions, { durability, onReplaced }),
    );
    return written.catch(async (error: unknown) => {
      // A missing root is no fault of the path: then this is `unavailable`.
      if (hasCode(error, "parent-missing")) await withFolder(tree.open([]), async () => {});
      throw error;
    });
  }

  async function createFolder(path: string, { owner = {} }: CreateFolderOptions = {}): Promise<void> {
    const numbers = await findOwner(owner);
    const { parent, name } = await openParent(path, "already-exists");
    const made = withFolder(parent, async (folder) => {
      // The name may be free only for a moment, because something replaces what has it.
      const create = (): Promise<void> => withNameLock(folder, name, () => createFolderAt(folder, name));
      await (numbers === undefined ? create() : createOwnedFolder(folder, name, numbers));
      if (durability === "fsync") await folder.sync();
    });
    await mapErrorCode(made, "not-found", "parent-missing");
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    const segments = toPathSegments(path);
    const name = segments.pop();
    if (name === undefined) throw new StorageError("denied", "The root folder cannot be removed.");
    if (!tree.isValidName(name)) throw new StorageError("not-found");
    const parent = mapErrorCode(tree.open(await locate(segments)), "not-a-folder", "not-found");
    const removed = withFolder(parent, async (folder) => {
      /** Returns the kind of the member to remove, a symlink as itself, after its entry met the conditions. */
      const check = async (options?: LookUpOptions): Promise<StorageEntry["kind"]> => {
        const member = await statMember(folder, name, options);
        const entry = member && (await followed(segments, member, options));
        if (member === undefined || entry === undefined || !isOfKind(entry.kind, conditions)) {
          throw new StorageError("not-found");
        }
        if (!meetsConditions(entry.etag, conditions)) throw new StorageError("precondition-failed");
        return member.kind;
      };
      // With `kind: "file"` alone a second check is not needed: the system never unlinks a folder.
      const mustCheckUnderLock = conditions.ifMatch !== undefined || conditions.kind === "folder";
      if ((await check()) === "folder") {
        if (conditions.ifEmpty === true) await checkEmpty(folder, name);
        await removeFolderAndProperties(folder, name);
      } else await removeFile(folder, name, mustCheckUnderLock ? () => check({ hasLock: true }) : undefined);
      if (durability === "fsync") await folder.sync();
    });
    await mapSystemErrors(removed);
  }

  const storage: StorageAdapter = {
    stat,
    list,
    read,
    locateContent,
    write: (path, content, writeOptions = {}) => write(path, content, writeOptions),
    createFolder,
    remove,
    ...createDiskCopyAndMove({
      tree,
      durability,
      stat,
      locate,
      openParent,
      followed,
      onFolderMoved: createMovedUploadCleanUp(tree, locate),
      self: () => storage,
    }),
    uploads: createDiskUploads({ tree, durability, locate, openParent, self: () => storage }),
  };
  // With symlinks to follow, what counts at a path may be the target of one, which a write does not replace.
  if (links === "hidden") noteReplacingWrite(storage, write);
  return storage;
}

async function removeFolderAndProperties(parent: OpenFolder, name: string): Promise<void> {
  const stats = (await hasRecords(parent)) ? await parent.lookUp(name) : undefined;
  await removeFolder(parent, name);
  if (stats !== undefined) await removeProperties(parent, stats).catch(() => undefined);
}

function checkOptions(options: DiskStorageOptions): Required<DiskStorageOptions> {
  const { root, durability = "fsync", links = "hidden" } = options;
  checkOption(typeof root === "string" && root !== "", "root", "the path of a folder");
  checkOption(durability === "fsync" || durability === "rename", "durability", '"fsync" or "rename"');
  checkOption(links === "hidden" || links === "inside", "links", '"hidden" or "inside"');
  return { root: checkRoot(resolve(root)), durability, links };
}

function checkRoot(root: string): string {
  try {
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    const reason = systemCode(error) === "ENOENT" ? "does not exist" : "cannot be read";
    throw new OptionError("root", `the path of a folder: ${root} ${reason}`, { cause: error });
  }
  throw new OptionError("root", `the path of a folder: ${root} is not a folder`);
}
