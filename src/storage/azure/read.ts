import { type ByteRange, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../contracts/stored-file.ts";
import type { OpenedResponse } from "../object-store/http/client.ts";
import { createObjectSource, type ObjectPiece, type WantedVersion } from "../object-store/http/object-source.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { type AzureClient, type AzureRequest, describeAzureRequest } from "./client.ts";
import { toBlobEntry } from "./entries.ts";
import { isMissingBlob, toAzureError } from "./errors.ts";
import { headBlob, isAnyBlobBelow, toAzureHead } from "./head.ts";

/** How often a file may change between reading its size and its content. */
const MAX_ROUNDS = 4;
/** How long a URL is valid that is used at once. */
const SIGNED_SECONDS = 900;

/**
 * Reads a file or a range of it with one request.
 * @throws StorageError `not-found`, or `not-a-file` for a folder.
 */
export async function readBlob(
  client: AzureClient,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile> {
  if (location.parent === undefined) throw new StorageError("not-a-file", "The root is a folder, not a file.");
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { offset = 0, length } = range ?? {};
    const piece = length === 0 ? undefined : await openPiece(client, location, offset, length);
    if (piece !== undefined) return toFile(client, location, piece, range);
    // The range is empty, or lies after the end of the file. The entry is that of the version found here.
    const head = await headBlob(client, location.key);
    if (head === undefined) throw await toAbsence(client, location);
    if (length === 0 || offset >= head.size) return toStoredFile(toBlobEntry(location.name, head), new Uint8Array(0));
  }
  throw new StorageError("unavailable", `GET ${location.key}: the blob keeps changing`);
}

function toFile(
  client: AzureClient,
  location: ObjectLocation,
  piece: ObjectPiece,
  range: ByteRange | undefined,
): StoredFile {
  const { offset = 0, length = piece.size } = range ?? {};
  const source = createObjectSource({
    what: `GET ${location.key}`,
    settings: client.settings,
    first: piece,
    from: offset,
    end: Math.min(piece.size, offset + length),
    open: (begin, count, wanted) => openPiece(client, location, begin, count, wanted),
  });
  return toStoredFile(piece.entry, source);
}

/**
 * Requests bytes from an offset on. Returns `undefined` if there are none. With `etag`, only that version is accepted.
 */
async function openPiece(
  client: AzureClient,
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
  const request: AzureRequest = { method: "GET", key: location.key, headers, signal };
  const opened = await openAsStored(client, request, location.key);
  if (opened.status === 416) return undefined;
  if (opened.status === 412)
    throw new StorageError("unavailable", `GET ${location.key}: that version no longer exists`);
  if (isMissingBlob(opened)) throw await toAbsence(client, location);
  if (opened.body === undefined) throw toAzureError(opened, describeAzureRequest(request));
  return toPiece(opened, location, offset);
}

/**
 * Opens the bytes as they are stored. If a blob was stored with a `Content-Encoding`, `fetch` would decode it; so it is
 * requested again as if it had none, which only a signed URL can ask for.
 */
async function openAsStored(client: AzureClient, request: AzureRequest, key: string): Promise<OpenedResponse> {
  const opened = await client.open(request);
  if (opened.body === undefined || /^(?:|identity)$/i.test(opened.headers.get("content-encoding") ?? "")) return opened;
  opened.body.close();
  return client.open({ ...request, signedUrl: await client.presign(key, SIGNED_SECONDS, { rsce: "identity" }) });
}

function toPiece(
  { status, headers, body }: OpenedResponse,
  { name, key }: ObjectLocation,
  offset: number,
): ObjectPiece {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const size = Number((status === 206 ? total : headers.get("content-length")) ?? Number.NaN);
  // A store that ignores ranges sends the complete blob. Leading bytes are skipped later.
  const begin = status === 206 ? Number(start) : 0;
  if (body === undefined || !Number.isSafeInteger(size) || begin > offset) {
    body?.close();
    throw new StorageError("unavailable", `GET ${key}: the response does not say which bytes it contains`);
  }
  const head = toAzureHead(headers, size);
  return { etag: head.etag, size, entry: toBlobEntry(name, head), body, start: begin };
}

/** Returns the error for a missing file. Looks whether the path is a folder. */
async function toAbsence(client: AzureClient, { key, folder }: ObjectLocation): Promise<StorageError> {
  return new StorageError((await isAnyBlobBelow(client, folder)) ? "not-a-file" : "not-found", key);
}
