import { StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import type { ObjectCopyOptions } from "../object-store/copy-and-move.ts";
import { isSuccessful, type StoreRequest, type StoreResponse } from "../object-store/http/client.ts";
import { childText, parseResponse } from "../object-store/http/xml.ts";
import { withPermit } from "../object-store/permits.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { type S3CopySource, toCopyHeaders } from "./copy-headers.ts";
import { toS3StorageError } from "./errors.ts";
import { callForResult } from "./late-result.ts";
import type { S3Upload } from "./multipart-parts.ts";

/** Number of parts of one object that wait for a permit or are copied. */
const MAX_PARALLEL = 16;
const MAX_PARTS = 10_000;

/** A part of an object, from its first to its last byte. */
interface PartRange {
  readonly number: number;
  readonly first: number;
  readonly last: number;
}

/** How {@link sendPartCopies} works. */
export interface S3PartCopyWays extends Pick<ObjectCopyOptions, "permits" | "signal" | "ifMatch"> {
  readonly partBytes: number;
}

/** An object, or a range of it, that becomes a part. */
export interface S3PartCopy {
  readonly number: number;
  readonly source: Pick<S3CopySource, "key" | "etag">;
  /** Its first and its last byte. Without it, the complete object. */
  readonly range?: { readonly first: number; readonly last: number };
  readonly signal?: AbortSignal | undefined;
}

/** Copies bytes of an object into a part. Returns its entity-tag, or the response that refuses it. */
export async function copyPart(
  client: S3Client,
  { key, id }: S3Upload,
  { number, source, range, signal }: S3PartCopy,
): Promise<string | { readonly refusal: StoreResponse; readonly what: string }> {
  const { "x-amz-metadata-directive": _, ...named } = toCopyHeaders(client, source);
  const headers = { ...named, ...(range && { "x-amz-copy-source-range": `bytes=${range.first}-${range.last}` }) };
  const query = { partNumber: String(number), uploadId: id };
  const request: StoreRequest = { method: "PUT", key, query, headers, signal };
  const response = await callForResult(client, request, "CopyPartResult");
  const tag = isSuccessful(response) ? childText(parseResponse(response.text), "ETag") : "";
  return tag === "" ? { refusal: response, what: describeS3Request(request) } : tag;
}

/** Copies an object into the parts of an upload. Returns their entity-tags. */
export async function sendPartCopies(
  client: S3Client,
  upload: S3Upload,
  source: S3CopySource,
  { permits, signal, ifMatch, partBytes }: S3PartCopyWays,
): Promise<readonly string[]> {
  const tags: string[] = [];

  async function copyRange({ number, ...range }: PartRange, ended: AbortSignal): Promise<void> {
    const copied = await withPermit(permits, () => copyPart(client, upload, { number, source, range, signal: ended }));
    if (typeof copied !== "string") throw toCopyError(copied, source, ifMatch && "precondition-failed");
    tags[number - 1] = copied;
  }

  await inParallel(toRanges(partBytes, source.size), { most: MAX_PARALLEL, signal }, copyRange);
  return tags;
}

/** Returns the error of a part that was not copied. `changed` is its code if the object has another version now. */
export function toCopyError(
  { refusal, what }: { readonly refusal: StoreResponse; readonly what: string },
  { key }: Pick<S3CopySource, "key">,
  changed: StorageErrorCode = "unavailable",
): StorageError {
  if (refusal.status !== 412) return toS3StorageError(refusal, what);
  return new StorageError(changed, `${key}: the object was changed while it was copied`);
}

/** Yields the parts of an object. All but the last have the same size, as some stores require. */
function* toRanges(partBytes: number, size: number): Generator<PartRange> {
  const bytes = Math.max(partBytes, Math.ceil(size / MAX_PARTS));
  for (let first = 0, number = 1; first < size; first += bytes, number += 1) {
    yield { number, first, last: Math.min(first + bytes, size) - 1 };
  }
}
