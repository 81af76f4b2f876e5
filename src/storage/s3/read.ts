import type { ByteSource } from "../../contracts/byte-source.ts";
import { type ByteRange, type StorageEntry, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../contracts/stored-file.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { describeS3Request, type S3Client, type S3Opened, type S3Request } from "./client.ts";
import { toHead, toS3FileEntry } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { headObject, isAnyBelow } from "./head.ts";
import type { S3Body } from "./response-body.ts";
import { toWait, wait } from "./retry.ts";

/** A response with some bytes of one version of an object. */
interface S3Piece {
  readonly etag: string;
  /** Size of the complete object. */
  readonly size: number;
  readonly entry: StorageEntry;
  readonly body: S3Body;
  /** Position of the body's first byte in the object. */
  readonly start: number;
}

/** How often a file may change between reading its size and its content. */
const MAX_ROUNDS = 4;

/**
 * Reads a file or a range of it with one request.
 * @throws StorageError `not-found`, or `not-a-file` for a folder.
 */
export async function readFile(
  client: S3Client,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile> {
  if (location.parent === undefined) throw new StorageError("not-a-file", "The root is a folder, not a file.");
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const piece =
      range?.length === 0 ? undefined : await openPiece(client, location, range?.offset ?? 0, range?.length);
    if (piece !== undefined) return toFile(client, location, piece, range);
    // The range is empty, or lies after the end of the file. The entry is that of the version found here.
    const head = await headObject(client, location.key);
    if (head === undefined) throw await toAbsence(client, location);
    if (range === undefined || range.length === 0 || range.offset >= head.size) {
      return toStoredFile(toS3FileEntry(location.name, head), new Uint8Array(0));
    }
  }
  throw new StorageError("unavailable", `GET ${location.key}: the object keeps changing`);
}

function toFile(client: S3Client, location: ObjectLocation, piece: S3Piece, range: ByteRange | undefined): StoredFile {
  const { offset = 0, length = piece.size } = range ?? {};
  const end = Math.min(piece.size, offset + length);
  return toStoredFile(piece.entry, createObjectSource(client, location, piece, offset, end));
}

/**
 * Requests bytes from an offset on. Returns `undefined` if there are none. With `etag`, only that version is accepted.
 */
async function openPiece(
  client: S3Client,
  location: ObjectLocation,
  offset: number,
  length: number | undefined,
  { etag, signal }: { readonly etag?: string; readonly signal?: AbortSignal } = {},
): Promise<S3Piece | undefined> {
  const last = length === undefined ? "" : Math.min(offset + length - 1, Number.MAX_SAFE_INTEGER);
  const isWhole = offset === 0 && length === undefined;
  const headers = {
    ...(!isWhole && { range: `bytes=${offset}-${last}` }),
    ...(etag !== undefined && etag !== "" && { "if-match": etag }),
  };
  const request: S3Request = { method: "GET", key: location.key, headers, signal };
  const opened = await openAsStored(client, request);
  if (opened.status === 416) return undefined;
  if (opened.status === 412)
    throw new StorageError("unavailable", `GET ${location.key}: that version no longer exists`);
  if (isMissing(opened)) throw await toAbsence(client, location);
  if (opened.body === undefined) throw toS3StorageError(opened, describeS3Request(request));
  return toPiece(opened, opened.body, location, offset);
}

/**
 * Opens the bytes as they are stored. If an object was stored with a `Content-Encoding`, `fetch` would decode it; so
 * the object is requested again as if it had none.
 */
async function openAsStored(client: S3Client, request: S3Request): Promise<S3Opened> {
  const opened = await client.open(request);
  if (opened.body === undefined || /^(?:|identity|aws-chunked)$/i.test(opened.headers.get("content-encoding") ?? "")) {
    return opened;
  }
  opened.body.close();
  return client.open({ ...request, query: { "response-content-encoding": "identity" } });
}

function toPiece({ status, headers }: S3Opened, body: S3Body, { name, key }: ObjectLocation, offset: number): S3Piece {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const isPart = status === 206;
  const size = Number((isPart ? total : headers.get("content-length")) ?? Number.NaN);
  // A store that ignores ranges sends the complete object. Leading bytes are skipped later.
  const begin = isPart ? Number(start) : 0;
  if (!Number.isSafeInteger(size) || begin > offset) {
    body.close();
    throw new StorageError("unavailable", `GET ${key}: the response does not say which bytes it contains`);
  }
  const head = toHead(headers, size);
  return { etag: head.etag, size, entry: toS3FileEntry(name, head), body, start: begin };
}

/** Returns the error for a missing file. Looks whether the path is a folder. */
async function toAbsence(client: S3Client, { key, folder }: ObjectLocation): Promise<StorageError> {
  return new StorageError((await isAnyBelow(client, folder)) ? "not-a-file" : "not-found", key);
}

/**
 * Creates a source of the bytes from `from` up to, but not including, `end`. If a connection breaks, stalls or ends
 * early, a new one continues at the same position in the same version. If that version no longer exists, the source
 * fails.
 */
function createObjectSource(
  client: S3Client,
  location: ObjectLocation,
  first: S3Piece,
  from: number,
  end: number,
): ByteSource {
  let body = first.body;
  let position = first.start;
  /** Bytes before this position are skipped: the caller did not request them, or already has them. */
  let begin = from;
  let rest: Uint8Array = new Uint8Array(0);
  let failures = 0;
  let isClosed = false;
  const closing = new AbortController();

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (!isClosed && position < end) {
      if (rest.byteLength === 0) rest = await nextChunk();
      if (position < begin) skip(Math.min(rest.byteLength, begin - position));
      const part = rest.subarray(0, Math.min(buffer.byteLength, end - position));
      if (part.byteLength === 0 || isClosed) continue;
      failures = 0;
      buffer.set(part);
      skip(part.byteLength);
      if (position === end) body.close();
      return part.byteLength;
    }
    return 0;
  }

  function skip(bytes: number): void {
    position += bytes;
    rest = rest.subarray(bytes);
  }

  /** Reads the next bytes, with new connections if necessary. Returns no bytes after `close`. */
  async function nextChunk(): Promise<Uint8Array> {
    for (;;) {
      try {
        const chunk = await body.read();
        if (chunk !== undefined) return chunk;
      } catch {
        // Handled like an early end.
      }
      if (isClosed) return new Uint8Array(0);
      failures += 1;
      if (failures > client.settings.retries) {
        await close();
        throw new StorageError(
          "unavailable",
          `GET ${location.key}: the connection was lost at ${position} of ${end} bytes`,
        );
      }
      await resume();
    }
  }

  async function resume(): Promise<void> {
    body.close();
    await wait(toWait(failures, null, client.settings), closing.signal).catch(() => undefined);
    if (isClosed) return;
    // Without a tag, bytes of different versions could be mixed.
    if (first.etag === "") throw new StorageError("unavailable", `GET ${location.key}: the connection was lost`);
    begin = Math.max(position, begin);
    const wanted = { etag: first.etag, signal: closing.signal };
    const piece = await openPiece(client, location, begin, end - begin, wanted).catch((error: unknown) => {
      if (!isClosed) throw error;
    });
    if (isClosed) return piece?.body.close();
    if (piece === undefined || piece.etag !== first.etag || piece.size !== first.size) {
      piece?.body.close();
      throw new StorageError("unavailable", `GET ${location.key}: that version no longer exists`);
    }
    body = piece.body;
    position = piece.start;
  }

  async function close(): Promise<void> {
    isClosed = true;
    rest = new Uint8Array(0);
    closing.abort();
    body.close();
  }

  return { readInto, close };
}
