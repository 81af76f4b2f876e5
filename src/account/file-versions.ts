import type { Operation } from "../contracts/account.ts";
import { foldName } from "../contracts/account-name.ts";
import type { FileVersion, VersionRestoreOptions, Versions } from "../contracts/kept/versions.ts";
import { type ByteRange, type StorageEntry, StorageError, type StoredFile } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { Account } from "./account.ts";
import { isReserved, toStoragePath } from "./path.ts";
import type { TreeAccess } from "./removal-check.ts";
import { toRealPath } from "./virtual-folders.ts";

/**
 * The earlier contents of an account's files. A part of `AccountFiles`. If there is no file at a path now, it has no
 * versions, and all methods throw `not-found`. Otherwise they throw the errors of the storage.
 */
export interface FileVersions {
  /** Returns the versions of a file, the newest first, without the present content. The account needs `read`. */
  list(segments: readonly string[]): AsyncIterable<FileVersion>;
  /** Returns a version of a file. The account needs `read`, `write` or `delete-file`. */
  find(segments: readonly string[], id: string): Promise<FileVersion | undefined>;
  /** Returns the entry of a version, with the name of the file. The account needs `read`. */
  stat(segments: readonly string[], id: string): Promise<StorageEntry | undefined>;
  /** Opens a version. The account needs `read`. */
  read(segments: readonly string[], id: string, range?: ByteRange): Promise<StoredFile>;
  /**
   * Replaces a file by one of its versions, as a write does. The account needs `write`. Throws HttpError `too-large`
   * for a version above its size limit.
   */
  restore(
    segments: readonly string[],
    version: FileVersion,
    options?: Pick<VersionRestoreOptions, "signal">,
  ): Promise<StorageEntry>;
  /** Removes a version for good. The account needs `delete-file`. */
  purge(segments: readonly string[], version: FileVersion): Promise<void>;
}

/** What shows an account whether a file has a version. */
const SEEING: readonly Operation[] = ["read", "write", "delete-file"];

/** Creates the versions of an account's files. */
export function createFileVersions(
  account: Account,
  versions: Versions,
  { tree, allows, require }: TreeAccess,
): FileVersions {
  const { maxFileBytes, quota } = account;
  const owner = foldName(account.name);

  /** Returns the path of a file in the storage. */
  async function toFile(segments: readonly string[]): Promise<string> {
    const entry = isReserved(segments) ? undefined : await tree.stat(toStoragePath(segments));
    if (entry?.kind !== "file") throw new StorageError("not-found");
    return toRealPath(account, segments);
  }

  async function requireFile(segments: readonly string[], operation: Operation): Promise<string> {
    await require(segments, operation);
    return toFile(segments);
  }

  async function mayAny(segments: readonly string[]): Promise<boolean> {
    for (const operation of SEEING) if (await allows(segments, operation)) return true;
    return false;
  }

  async function* list(segments: readonly string[]): AsyncGenerator<FileVersion> {
    yield* versions.list(await requireFile(segments, "read"));
  }

  async function find(segments: readonly string[], id: string): Promise<FileVersion | undefined> {
    if (!(await mayAny(segments))) await require(segments, "read");
    return versions.find(await toFile(segments), id);
  }

  async function stat(segments: readonly string[], id: string): Promise<StorageEntry | undefined> {
    const found = await versions.find(await requireFile(segments, "read"), id);
    if (found === undefined) return undefined;
    const { size, modified, etag } = found;
    return { name: segments.at(-1) ?? "", kind: "file", size, modified, ...(etag !== undefined && { etag }) };
  }

  async function read(segments: readonly string[], id: string, range?: ByteRange): Promise<StoredFile> {
    return versions.read(await requireFile(segments, "read"), id, range);
  }

  async function restore(
    segments: readonly string[],
    { id, size }: FileVersion,
    options?: Pick<VersionRestoreOptions, "signal">,
  ): Promise<StorageEntry> {
    const path = await requireFile(segments, "write");
    if (maxFileBytes !== undefined && size > maxFileBytes) {
      throw createError("too-large", { values: { max: maxFileBytes } });
    }
    return versions.restore(path, id, { ...options, quota, owner });
  }

  async function purge(segments: readonly string[], { id }: FileVersion): Promise<void> {
    const path = await requireFile(segments, "delete-file");
    if (!(await versions.purge(path, id))) throw new StorageError("not-found");
  }

  return { list, find, stat, read, restore, purge };
}
