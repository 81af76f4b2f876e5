import { type ByteRange, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../contracts/stored-file.ts";
import type { OpenedResponse, StoreRequest } from "../object-store/http/client.ts";
import { createObjectSource, type ObjectPiece, type WantedVersion } from "../object-store/http/object-source.ts";
import type { StoreBody } from "../object-store/http/response-body.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { toObjectEntry } from "../object-store/object-entry.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { toHead } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { headObject, isAnyBelow } from "./head.ts";

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
      return toStoredFile(toObjectEntry(location.name, head), new Uint8Array(0));
    }
  }
  throw new StorageError("unavailable", `GET ${location.key}: the object keeps changing`);
}

function toFile(
  client: S3Client,
  location: ObjectLocation,
  piece: ObjectPiece,
  range: ByteRange | undefined,
): StoredFile {
  const { offset = 0, length = piece.size } = range ?? {};
  const end = Math.min(piece.size, offset + length);
  return toStoredFile(
    piece.entry,
    createObjectSource({
      what: `GET ${location.key}`,
      settings: client.settings,
      first: piece,
      from: offset,
      end,
      open: (begin, count, wanted) => openPiece(client, location, begin, count, wanted),
    }),
  );
}

/**
 * Requests bytes from an offset on. Returns `undefined` if there are none. With `etag`, only that version is accepted.
 */
async function openPiece(
  client: S3Client,
  location: ObjectLocation,
  offset: number,
  length: number | undefined,
  { etag, signal }: Partial<WantedVersion> = {},
): Promise<ObjectPiece | undefined> {
  const last = length === undefined ? "" : Math.min(offset + length - 1, Number.MAX_SAFE_INTEGER);
  const isWhole = offset === 0 && length === undefined;
  const headers = {
    ...(!isWhole && { range: `bytes=${offset}-${last}` }),
    ...(etag !== undefined && etag !== "" && { "if-match": etag }),
  };
  const request: StoreRequest = { method: "GET", key: location.key, headers, signal };
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
async function openAsStored(client: S3Client, request: StoreRequest): Promise<OpenedResponse> {
  const opened = await client.open(request);
  if (opened.body === undefined || /^(?:|identity|aws-chunked)$/i.test(opened.headers.get("content-encoding") ?? "")) {
    return opened;
  }
  opened.body.close();
  return client.open({ ...request, query: { "response-content-encoding": "identity" } });
}

function toPiece(
  { status, headers }: OpenedResponse,
  body: StoreBody,
  { name, key }: ObjectLocation,
  offset: number,
): ObjectPiece {
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
  return { etag: head.etag, size, entry: toObjectEntry(name, head), body, start: begin };
}

/** Returns the error for a missing file. Looks whether the path is a folder. */
async function toAbsence(client: S3Client, { key, folder }: ObjectLocation): Promise<StorageError> {
  return new StorageError((await isAnyBelow(client, folder)) ? "not-a-file" : "not-found", key);
}
