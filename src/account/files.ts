import type { Account } from "../contracts/account.ts";
import {
  type ByteRange,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { HttpError } from "../http/http-error.ts";
import { RESERVED_NAME, toStoragePath } from "./path.ts";

/**
 * The files and folders of one account: the only way from an endpoint to the storage, so that what an account may
 * not see or touch is decided in one place (SECURITY 19). Paths are segments below the account's root. Links do
 * not exist but for {@link AccountFiles.remove} (CONTRACT 2.8), nor does the reserved name.
 */
export interface AccountFiles {
  /** The file or folder at a path; `undefined` when there is none. */
  stat(segments: readonly string[]): Promise<StorageEntry | undefined>;
  /** The members of a folder. Throws at the first step as the storage does. */
  list(segments: readonly string[]): AsyncIterable<StorageEntry>;
  read(segments: readonly string[], range?: ByteRange): Promise<StoredFile>;
  write(segments: readonly string[], content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;
  createFolder(segments: readonly string[]): Promise<void>;
  /** Removes a file or link, or a folder with everything under it. The account's root is refused (CONTRACT 4.4). */
  remove(segments: readonly string[], kind: "file" | "folder" | "any"): Promise<void>;
}

/** The files of an account inside a storage. */
export function createAccountFiles(account: Account, storage: StorageAdapter): AccountFiles {
  const base = account.home === "/" ? [] : account.home.slice(1).split("/");

  function locate(segments: readonly string[]): string {
    return toStoragePath([...base, ...segments]);
  }

  async function stat(segments: readonly string[]): Promise<StorageEntry | undefined> {
    if (isReserved(segments)) return undefined;
    const entry = await storage.stat(locate(segments));
    return entry?.kind === "link" ? undefined : entry;
  }

  async function* list(segments: readonly string[]): AsyncGenerator<StorageEntry> {
    if (isReserved(segments)) throw new StorageError("not-found");
    for await (const entry of storage.list(locate(segments))) {
      const isHidden = entry.kind === "link" || (segments.length === 0 && entry.name === RESERVED_NAME);
      if (!isHidden) yield entry;
    }
  }

  async function read(segments: readonly string[], range?: ByteRange): Promise<StoredFile> {
    if (isReserved(segments)) throw new StorageError("not-found");
    return storage.read(locate(segments), range);
  }

  async function write(
    segments: readonly string[],
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    refuseReserved(segments);
    return storage.write(locate(segments), content, options);
  }

  async function createFolder(segments: readonly string[]): Promise<void> {
    refuseReserved(segments);
    await storage.createFolder(locate(segments));
  }

  async function remove(segments: readonly string[], kind: "file" | "folder" | "any"): Promise<void> {
    refuseReserved(segments);
    if (segments.length === 0) throw new HttpError("denied", "The account's root folder cannot be removed.");
    const found = (await storage.stat(locate(segments)))?.kind;
    const isAsked = found !== undefined && (kind === "any" || (kind === "folder") === (found === "folder"));
    if (!isAsked) throw new StorageError("not-found");
    await storage.remove(locate(segments));
  }

  return { stat, list, read, write, createFolder, remove };
}

function isReserved(segments: readonly string[]): boolean {
  return segments[0] === RESERVED_NAME;
}

function refuseReserved(segments: readonly string[]): void {
  if (isReserved(segments)) throw new HttpError("denied", "This name is reserved.");
}
