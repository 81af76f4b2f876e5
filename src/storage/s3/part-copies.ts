import { StorageError } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { withPermit } from "../object-store/permits.ts";
import type { ObjectCopyOptions } from "../object-store/transfers.ts";
import { describeS3Request, type S3Client, type S3Request } from "./client.ts";
import { type S3CopySource, toCopyHeaders } from "./copy-headers.ts";
import { isDone, toS3StorageError } from "./errors.ts";
import { callForResult } from "./late-result.ts";
import type { S3Upload } from "./multipart-parts.ts";
import { childText, parseResponse } from "./xml.ts";

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

/** Copies an object into the parts of an upload. Returns their entity-tags. */
export async function sendPartCopies(
  client: S3Client,
  { key, id }: S3Upload,
  source: S3CopySource,
  { permits, signal, ifMatch, partBytes }: S3PartCopyWays,
): Promise<readonly string[]> {
  const tags: string[] = [];
  const { "x-amz-metadata-directive": _, ...named } = toCopyHeaders(client, source);

  async function copyPart({ number, first, last }: PartRange, ended: AbortSignal): Promise<void> {
    const headers = { ...named, "x-amz-copy-source-range": `bytes=${first}-${last}` };
    const query = { partNumber: String(number), uploadId: id };
    const request: S3Request = { method: "PUT", key, query, headers, signal: ended };
    const response = await withPermit(permits, () => callForResult(client, request, "CopyPartResult"));
    if (response.status === 412) {
      const code = ifMatch === undefined ? "unavailable" : "precondition-failed";
      throw new StorageError(code, `${source.key}: the object was changed while it was copied`);
    }
    const tag = childText(parseResponse(response.text), "ETag");
    if (!isDone(response) || tag === "") throw toS3StorageError(response, describeS3Request(request));
    tags[number - 1] = tag;
  }

  await inParallel(toRanges(partBytes, source.size), { most: MAX_PARALLEL, signal }, copyPart);
  return tags;
}

/** Yields the parts of an object. All but the last have the same size, as some stores require. */
function* toRanges(partBytes: number, size: number): Generator<PartRange> {
  const bytes = Math.max(partBytes, Math.ceil(size / MAX_PARTS));
  for (let first = 0, number = 1; first < size; first += bytes, number += 1) {
    yield { number, first, last: Math.min(first + bytes, size) - 1 };
  }
}
