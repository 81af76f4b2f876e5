import {
  type ByteRange,
  type StorageEntry,
  StorageError,
  type StoredFile,
} from "../../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../../contracts/stored-file.ts";
import type { ObjectLocation } from "../keys.ts";
import type { ObjectLookup } from "../targets.ts";
import type { OpenedResponse, StoreResponse } from "./client.ts";
import { createObjectSource, type ObjectPiece, type WantedVersion } from "./object-source.ts";
import type { RetrySettings } from "./retry.ts";

/** What a store reports about an object without its content. */
export interface FoundObject {
  readonly size: number;
  readonly modified: Date;
  /** Entity-tag with quotes. */
  readonly etag: string;
}

/** A store that objects are read from. */
export interface ReadableStore extends ObjectLookup<FoundObject> {
  readonly settings: RetrySettings;
  /**
   * Sends a GET with these headers. The body has the bytes as they are stored: `fetch` must not decode a
   * `Content-Encoding` that an object was stored with.
   */
  openAsStored(
    key: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<OpenedResponse>;
  /** Reads the headers of a response about an object of this size. */
  toHead(headers: Headers, size: number): FoundObject;
  /** Creates the entry of a file from its name in the store. */
  toEntry(name: string, head: FoundObject): StorageEntry;
  /** Whether a response says that the object does not exist. */
  isMissing(response: StoreResponse): boolean;
  toError(response: StoreResponse, what: string): StorageError;
}

/** How often a file may change between reading its size and its content. */
const MAX_ROUNDS = 4;

/**
 * Reads a file or a range of it with one request.
 * @throws StorageError `not-found`, or `not-a-file` for a folder.
 */
export async function readStoredObject(
  store: ReadableStore,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile> {
  const { name, key, parent } = location;
  const { offset = 0, length } = range ?? {};
  if (parent === undefined) throw new StorageError("not-a-file", "The root is a folder, not a file.");
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const piece = length === 0 ? undefined : await openPiece(store, location, offset, length);
    if (piece !== undefined) return toFile(store, location, piece, offset, length);
    // The range is empty, or lies after the end of the file. The entry is that of the version found here.
    const head = await store.head(key);
    if (head === undefined) throw await toAbsence(store, location);
    if (length === 0 || offset >= head.size) return toStoredFile(store.toEntry(name, head), new Uint8Array(0));
  }
  throw new StorageError("unavailable", `GET ${key}: the object keeps changing`);
}

function toFile(
  store: ReadableStore,
  location: ObjectLocation,
  piece: ObjectPiece,
  offset: number,
  length = piece.size,
): StoredFile {
  const source = createObjectSource({
    what: `GET ${location.key}`,
    settings: store.settings,
    first: piece,
    from: offset,
    end: Math.min(piece.size, offset + length),
    open: (begin, count, wanted) => openPiece(store, location, begin, count, wanted),
  });
  return toStoredFile(piece.entry, source);
}

/**
 * Requests bytes from an offset on. Returns `undefined` if there are none. With `etag`, only that version is accepted.
 */
async function openPiece(
  store: ReadableStore,
  location: ObjectLocation,
  offset: number,
  length: number | undefined,
  { etag, signal }: Partial<WantedVersion> = {},
): Promise<ObjectPiece | undefined> {
  const { key } = location;
  const last = length === undefined ? "" : Math.min(offset + length - 1, Number.MAX_SAFE_INTEGER);
  const isWhole = offset === 0 && length === undefined;
  const headers = {
    ...(!isWhole && { range: `bytes=${offset}-${last}` }),
    ...(etag !== undefined && etag !== "" && { "if-match": etag }),
  };
  const opened = await store.openAsStored(key, headers, signal);
  if (opened.status === 416) return undefined;
  if (opened.status === 412) throw new StorageError("unavailable", `GET ${key}: that version no longer exists`);
  if (store.isMissing(opened)) throw await toAbsence(store, location);
  if (opened.body === undefined) throw store.toError(opened, `GET ${key}`);
  return toPiece(store, opened, location, offset);
}

function toPiece(
  store: ReadableStore,
  { status, headers, body }: OpenedResponse,
  { name, key }: ObjectLocation,
  offset: number,
): ObjectPiece {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const isPart = status === 206;
  const size = Number((isPart ? total : headers.get("content-length")) ?? Number.NaN);
  // A store that ignores ranges sends the complete object. Leading bytes are skipped later.
  const begin = isPart ? Number(start) : 0;
  if (body === undefined || !Number.isSafeInteger(size) || begin > offset) {
    body?.close();
    throw new StorageError("unavailable", `GET ${key}: the response does not say which bytes it contains`);
  }
  const head = store.toHead(headers, size);
  return { etag: head.etag, size, entry: store.toEntry(name, head), body, start: begin };
}

/** Returns the error for a missing file. Looks whether the path is a folder. */
async function toAbsence(store: ReadableStore, { key, folder }: ObjectLocation): Promise<StorageError> {
  return new StorageError((await store.isAnyBelow(folder)) ? "not-a-file" : "not-found", key);
}
