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
import { HttpError } from "../http/http-error.ts";
import { createFolderStorage, mountStorage } from "../storage/mount.ts";
import type { Account } from "./account.ts";
import { limitContent } from "./file-size-limit.ts";
import { RESERVED_NAME, toStoragePath } from "./path.ts";
import type { Operation } from "./permissions.ts";

/**
 * What a removal is to meet; anything else is `not-found`, and what takes its place at that very moment stays. An `empty-folder` with members stays, and is HttpError `unprocessable`: for hosts of
 * protocols whose removal is not recursive. What comes into it at that very moment goes with it.
 */
export type RemovalKind = "file" | "folder" | "empty-folder" | "any";

/** What is done to a file alone. */
export type FileOperation = "read" | "write" | "delete-file";

/**
 * The files and folders of one account: the only way from an endpoint to the storage, so that what an account may not see or touch is
 * decided in one place (SECURITY 19). Paths are segments below the account's root. What a permission is missing for is HttpError
 * `denied`, before anything is done. Links do not exist but for {@link AccountFiles.remove} (CONTRACT 2.8), nor does the
 * reserved name.
 */
export interface AccountFiles {
  /** The storage's path of what a path of the account means, for the operator's eyes. */
  realPathOf(segments: readonly string[]): string;
  /**
   * What is at a path, for anybody: names are no secret, as listings name denied members too (CONTRACT 7.4).
   */
  kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined>;
  /**
   * The file at a path, for `delete-folder` the folder, for one who may do `operation` to it; `undefined` when there is none. A folder in
   * place of a file is `not-a-file`, whatever is permitted.
   */
  stat(segments: readonly string[], operation: FileOperation | "delete-folder"): Promise<StorageEntry | undefined>;
  /**
   * The members of a folder; the folders among them only for an account that may `traverse` but not `list`. Throws at the first step
   * as the storage does.
   */
  list(segments: readonly string[]): AsyncIterable<StorageEntry>;
  /** A folder is `not-a-file`, whatever is permitted. */
  read(segments: readonly string[], range?: ByteRange): Promise<StoredFile>;
  /**
   * Writes as the storage does, and no more than one file may hold: more is HttpError `too-large`, by its announced size before its content is
   * touched, else as soon as it has come.
   */
  write(segments: readonly string[], content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;
  /** Creates a folder. The errors are the storage's. */
  createFolder(segments: readonly string[]): Promise<void>;
  /** The same; a folder that is there already is no failure. Whether it was made. */
  createFolderIfMissing(segments: readonly string[]): Promise<boolean>;
  /**
   * Removes a file or link, or a folder with everything under it, once all that is under it may be removed (CONTRACT 4.4). The account's root
   * and the roots of virtual folders are denied. A folder has no tag: with `ifMatch` it is `precondition-failed`.
   */
  remove(segments: readonly string[], kind: RemovalKind, options?: Pick<RemoveOptions, "ifMatch">): Promise<void>;
}

/** The files of an account inside a storage. */
export function createAccountFiles(account: Account, storage: StorageAdapter): AccountFiles {
  const { permissions, maxFileBytes } = account;
  const tree = toTree(account, storage);

  function allows(segments: readonly string[], operation: Operation): boolean {
    return permissions.allows(toStoragePath(segments), operation);
  }

  /** The longest virtual folder that a path is in wins, and the last of two in one place, as in the tree. */
  function realPathOf(segments: readonly string[]): string {
    const around = account.virtualFolders.filter(({ virtual }) =>
      virtual.every((name, index) => segments[index] === name),
    );
    const longest = around.reduce((best, one) => (one.virtual.length >= best.virtual.length ? one : best), {
      virtual: [] as readonly string[],
      real: account.home,
    });
    return toStoragePath([...longest.real, ...segments.slice(longest.virtual.length)]);
  }

  async function find(segments: readonly string[]): Promise<StorageEntry | undefined> {
    return isReserved(segments) ? undefined : tree.stat(toStoragePath(segments));
  }

  async function kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined> {
    const kind = (await find(segments))?.kind;
    return kind === "link" ? undefined : kind;
  }

  async function requireFor(segments: readonly string[], operation: Operation): Promise<void> {
    if (isReserved(segments) && operation !== "read") throw new HttpError("denied", "This name is reserved.");
    if (allows(segments, operation)) return;
    if (isFileOperation(operation) && (await kindOf(segments)) === "folder") throw new StorageError("not-a-file");
    throw notPermitted();
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
    const showsFiles = allows(segments, "list");
    if (!showsFiles && !allows(segments, "traverse")) throw notPermitted();
    const isRoot = segments.length === 0;
    const isShown = ({ name, kind }: StorageEntry): boolean =>
      (kind === "folder" || (showsFiles && kind === "file")) && !(isRoot && name === RESERVED_NAME);
    for await (const batch of toBatches(tree.list(toStoragePath(segments)))) {
      yield batch.every(isShown) ? batch : batch.filter(isShown);
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
    return tree.write(toStoragePath(segments), limitContent(content, maxFileBytes, options?.size), options);
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
    if (segments.length === 0) throw new HttpError("denied", "The account's root folder cannot be removed.");
    const found = (await find(segments))?.kind;
    const wantsFolder = kind === "folder" || kind === "empty-folder";
    const isFolder = found === undefined ? wantsFolder : found === "folder";
    await requireFor(segments, isFolder ? "delete-folder" : "delete-file");
    if (found === undefined || (kind !== "any" && wantsFolder !== isFolder)) throw new StorageError("not-found");
    if (isFolder && options?.ifMatch !== undefined) throw new StorageError("precondition-failed");
    if (kind === "empty-folder") await requireEmpty(segments);
    else if (isFolder) await requireForMembers(segments);
    // What takes its place now was judged by nobody: another permission is needed for it.
    await tree.remove(toStoragePath(segments), isFolder ? { kind: "folder" } : { ...options, kind: "file" });
  }

  /** Also of what the account may not see. */
  async function requireEmpty(folder: readonly string[]): Promise<void> {
    for await (const _member of tree.list(toStoragePath(folder))) {
      throw new HttpError("unprocessable", "The folder is not empty.");
    }
  }

  /** One member that may not be removed keeps the whole tree (CONTRACT 4.4). */
  async function requireForMembers(folder: readonly string[]): Promise<void> {
    if (permissions.grantsEverywhere("delete-file") && permissions.grantsEverywhere("delete-folder")) return;
    for await (const { segments, kind } of walk(tree, folder)) {
      if (!allows(segments, kind === "folder" ? "delete-folder" : "delete-file")) throw notPermitted();
    }
  }

  return { realPathOf, kindOf, stat, list, read, write, createFolder, createFolderIfMissing, remove };
}

function isFileOperation(operation: Operation): operation is FileOperation {
  return operation === "read" || operation === "write" || operation === "delete-file";
}

/** All that is below a folder, one folder's listing at a time. */
async function* walk(
  tree: StorageAdapter,
  top: readonly string[],
): AsyncGenerator<{ readonly segments: readonly string[]; readonly kind: StorageEntry["kind"] }> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const { name, kind } of tree.list(toStoragePath(folder))) {
        const segments = [...folder, name];
        if (kind === "folder") waiting.push(segments);
        yield { segments, kind };
      }
    } catch (error) {
      // A folder that has gone meanwhile holds nothing.
      if (!isStorageError(error) || error.code !== "not-found") throw error;
    }
  }
}

/** The storage as the account sees it: its home, and its virtual folders over it. */
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

function notPermitted(): HttpError {
  return new HttpError("denied", "The account's permissions do not allow this.");
}
