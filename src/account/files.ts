import { foldName } from "../contracts/account-name.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import {
  type ByteRange,
  isStorageError,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import type { KeyedMutex } from "../platform/keyed-mutex.ts";
import type { TakeTurn } from "../platform/round-robin.ts";
import { createFolderStorage, mountStorage } from "../storage/mount.ts";
import type { Account } from "./account.ts";
import { limitContent } from "./file-size-limit.ts";
import { RESERVED_NAME, toStoragePath } from "./path.ts";
import type { Operation } from "./permissions.ts";

/**
 * The kind of thing that a removal expects. Anything else is `not-found`, and is not removed even if it replaces the
 * expected one at the same moment. `empty-folder` is for hosts of protocols without recursive removal: a folder with
 * members is not removed, and is HttpError `unprocessable`. A member that is created at the same moment is removed
 * together with the folder.
 */
export type RemovalKind = "file" | "folder" | "empty-folder" | "any";

/** An operation that applies to files only. */
export type FileOperation = "read" | "write" | "delete-file";

/**
 * The files and folders of one account. Endpoints reach the storage only through this interface, so that permissions
 * are checked in one place (SECURITY 19). Paths are segments below the account's root.
 *
 * If a permission is missing, a method throws HttpError `denied` before it does anything. The reserved name does not
 * exist, and links exist only for {@link AccountFiles.remove} (CONTRACT 2.8).
 */
export interface AccountFiles {
  /** Returns the storage's path for a path of the account. Only operators may see it. */
  realPathOf(segments: readonly string[]): string;
  /**
   * Returns what is at a path, without a check of permissions: names are no secret, as listings contain members that
   * the account may not access (CONTRACT 7.4).
   */
  kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined>;
  /** Returns whether the account may read a file at a path, by its permissions alone. */
  mayRead(segments: readonly string[]): Promise<boolean>;
  /**
   * Returns the file at a path, or for `delete-folder` the folder, if the account may do `operation`; `undefined` if
   * there is none. If there is a folder instead of a file, throws `not-a-file`, even without permission.
   */
  stat(segments: readonly string[], operation: FileOperation | "delete-folder"): Promise<StorageEntry | undefined>;
  /**
   * Lists the members of a folder. An account that may `traverse` but not `list` gets only the folders. The first step
   * throws the errors of the storage.
   */
  list(segments: readonly string[]): AsyncIterable<StorageEntry>;
  /** Opens a file. Throws `not-a-file` for a folder, even without permission. */
  read(segments: readonly string[], range?: ByteRange): Promise<StoredFile>;
  /**
   * Writes a file. If the content exceeds the account's size limit, throws HttpError `too-large`: before it reads the
   * content if the announced size is too large, otherwise as soon as the limit is exceeded. Other errors are the
   * storage's.
   */
  write(segments: readonly string[], content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;
  /** Creates a folder. Throws the errors of the storage. */
  createFolder(segments: readonly string[]): Promise<void>;
  /** Creates a folder unless it exists. Returns whether it was created. */
  createFolderIfMissing(segments: readonly string[]): Promise<boolean>;
  /**
   * Removes a file or link, or a folder with everything in it. A folder is removed only if the account may remove
   * everything in it (CONTRACT 4.4). The account's root and the roots of virtual folders are `denied`. Folders have no
   * entity-tag: a folder with `ifMatch` is `precondition-failed`.
   */
  remove(segments: readonly string[], kind: RemovalKind, options?: Pick<RemoveOptions, "ifMatch">): Promise<void>;
}

/** How the accounts of a service share the time for folders. The keys are folded account names. */
export interface FolderTurns {
  /** Asked before each batch of members, and before long checks of permissions. */
  readonly takeTurn: TakeTurn;
  /** One tree of an account at a time is checked for its removal, so that no more members are held. */
  readonly withWalkLock: KeyedMutex;
}

/** Creates the files of an account in a storage. */
export function createAccountFiles(
  account: Account,
  storage: StorageAdapter,
  { takeTurn, withWalkLock }: FolderTurns,
): AccountFiles {
  const { permissions, maxFileBytes } = account;
  const key = foldName(account.name);
  const tree = toTree(account, storage);

  function allows(segments: readonly string[], operation: Operation): boolean {
    return permissions.allows(toStoragePath(segments), operation);
  }

  /** A path belongs to the deepest virtual folder around it; of two at the same path, to the last one. */
  function realPathOf(segments: readonly string[]): string {
    const enclosing = account.virtualFolders.filter(({ virtual }) =>
      virtual.every((name, index) => segments[index] === name),
    );
    const deepest = enclosing.reduce((best, one) => (one.virtual.length >= best.virtual.length ? one : best), {
      virtual: [] as readonly string[],
      real: account.home,
    });
    return toStoragePath([...deepest.real, ...segments.slice(deepest.virtual.length)]);
  }

  async function find(segments: readonly string[]): Promise<StorageEntry | undefined> {
    return isReserved(segments) ? undefined : tree.stat(toStoragePath(segments));
  }

  async function kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined> {
    const kind = (await find(segments))?.kind;
    return kind === "link" ? undefined : kind;
  }

  /** Takes a turn before a check of permissions that could hold up other requests. */
  function pauseBefore(segments: readonly string[]): Promise<void> | undefined {
    return permissions.isPauseDue(toStoragePath(segments)) ? takeTurn(key) : undefined;
  }

  async function requireFor(segments: readonly string[], operation: Operation): Promise<void> {
    if (isReserved(segments) && operation !== "read") throw createError("name-reserved");
    const pause = pauseBefore(segments);
    if (pause !== undefined) await pause;
    if (allows(segments, operation)) return;
    if (isFileOperation(operation) && (await kindOf(segments)) === "folder") throw new StorageError("not-a-file");
    throw refusalOf(segments);
  }

  function refusalOf(segments: readonly string[]): HttpError {
    return createError(permissions.isTooLong(toStoragePath(segments)) ? "path-too-long" : "denied");
  }

  async function stat(
    segments: readonly string[],
    operation: FileOperation | "delete-folder",
  ): Promise<StorageEntry | undefined> {
    await requireFor(segments, operation);
    const entry = await find(segments);
    const isForFile = isFileOperation(operation);
    if (isForFile && entry?.kind === "folder") throw new StorageError("not-a-file");
    return entry?.kind === (isForFile ? "file" : "folder") ? entry : undefined;
  }

  async function* listBatches(segments: readonly string[]): AsyncGenerator<readonly StorageEntry[]> {
    if (isReserved(segments)) throw new StorageError("not-found");
    await takeTurn(key);
    const showsFiles = allows(segments, "list");
    if (!showsFiles && !allows(segments, "traverse")) throw refusalOf(segments);
    const isRoot = segments.length === 0;
    const isShown = ({ name, kind }: StorageEntry): boolean =>
      (kind === "folder" || (showsFiles && kind === "file")) && !(isRoot && name === RESERVED_NAME);
    for await (const batch of toBatches(tree.list(toStoragePath(segments)))) {
      yield batch.every(isShown) ? batch : batch.filter(isShown);
      await takeTurn(key);
    }
  }

  const list = (segments: readonly string[]): AsyncIterable<StorageEntry> => toMembers(() => listBatches(segments));

  async function read(segments: readonly string[], range?: ByteRange): Promise<StoredFile> {
    await requireFor(segments, "read");
    if (isReserved(segments)) throw new StorageError("not-found");
    return tree.read(toStoragePath(segments), range);
  }

  async function write(
    segments: readonly string[],
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    await requireFor(segments, "write");
    const limited = limitContent(content, maxFileBytes, options?.size);
    return tree.write(toStoragePath(segments), limited, { owner: foldName(account.name), ...options });
  }

  async function createFolder(segments: readonly string[]): Promise<void> {
    await requireFor(segments, "create-folder");
    await tree.createFolder(toStoragePath(segments));
  }

  async function createFolderIfMissing(segments: readonly string[]): Promise<boolean> {
    try {
      await createFolder(segments);
      return true;
    } catch (error) {
      if (!isStorageError(error) || (await kindOf(segments)) !== "folder") throw error;
      return false;
    }
  }

  async function remove(
    segments: readonly string[],
    kind: RemovalKind,
    options?: Pick<RemoveOptions, "ifMatch">,
  ): Promise<void> {
    if (segments.length === 0) throw createError("root-not-removable");
    const found = (await find(segments))?.kind;
    const wantsFolder = kind === "folder" || kind === "empty-folder";
    const isFolder = found === undefined ? wantsFolder : found === "folder";
    await requireFor(segments, isFolder ? "delete-folder" : "delete-file");
    if (found === undefined || (kind !== "any" && wantsFolder !== isFolder)) throw new StorageError("not-found");
    if (isFolder && options?.ifMatch !== undefined) throw new StorageError("precondition-failed");
    if (kind === "empty-folder") await requireEmpty(segments);
    else if (isFolder) await requireForMembers(segments);
    // The kind is passed on: if another kind of member replaces this one now, it needs another permission and must
    // stay.
    await tree.remove(toStoragePath(segments), isFolder ? { kind: "folder" } : { ...options, kind: "file" });
  }

  /** Counts also members that the account may not see. */
  async function requireEmpty(folder: readonly string[]): Promise<void> {
    await takeTurn(key);
    for await (const _member of tree.list(toStoragePath(folder))) throw createError("folder-not-empty");
  }

  /** Throws if any member may not be removed: then the complete tree stays (CONTRACT 4.4). */
  async function requireForMembers(folder: readonly string[]): Promise<void> {
    if (permissions.grantsEverywhere("delete-file") && permissions.grantsEverywhere("delete-folder")) return;
    await withWalkLock(key, async () => {
      for await (const { segments, kind } of walk(tree, folder, () => takeTurn(key))) {
        await pauseBefore(segments);
        if (!allows(segments, kind === "folder" ? "delete-folder" : "delete-file")) throw refusalOf(segments);
      }
    });
  }

  async function mayRead(segments: readonly string[]): Promise<boolean> {
    if (permissions.grantsEverywhere("read")) return true;
    const pause = pauseBefore(segments);
    if (pause !== undefined) await pause;
    return allows(segments, "read");
  }

  return { realPathOf, mayRead, kindOf, stat, list, read, write, createFolder, createFolderIfMissing, remove };
}

function isFileOperation(operation: Operation): operation is FileOperation {
  return operation === "read" || operation === "write" || operation === "delete-file";
}

/** Yields everything below a folder, one folder's listing at a time. */
async function* walk(
  tree: StorageAdapter,
  top: readonly string[],
  takeTurn: () => Promise<void> | undefined,
): AsyncGenerator<{ readonly segments: readonly string[]; readonly kind: StorageEntry["kind"] }> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      await takeTurn();
      for await (const batch of toBatches(tree.list(toStoragePath(folder)))) {
        for (const { name, kind } of batch) {
          const segments = [...folder, name];
          if (kind === "folder") waiting.push(segments);
          yield { segments, kind };
        }
        await takeTurn();
      }
    } catch (error) {
      // A folder that was removed meanwhile has no members.
      if (!isStorageError(error) || error.code !== "not-found") throw error;
    }
  }
}

/** Creates the storage as the account sees it: its home folder, with the virtual folders mounted over it. */
function toTree({ home, virtualFolders }: Account, storage: StorageAdapter): StorageAdapter {
  const root = createFolderStorage(storage, home);
  if (virtualFolders.length === 0) return root;
  const mounts = virtualFolders.map(
    ({ virtual, real }) => [toStoragePath(virtual), createFolderStorage(storage, real)] as const,
  );
  return mountStorage({ ...Object.fromEntries(mounts), "/": root });
}

function isReserved(segments: readonly string[]): boolean {
  return segments[0] === RESERVED_NAME;
}
