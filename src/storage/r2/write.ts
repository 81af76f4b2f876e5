import { StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { createPartBuffers, joined, type ObjectPart, type PartBuffers, toParts } from "../object-store/parts.ts";
import type { R2Bucket, R2Condition, R2Object, R2UploadedPart } from "./binding.ts";

/** Maximum number of parts of an upload. */
const MAX_PARTS = 10_000;
const MEBIBYTE = 1_048_576;
/** Largest part size for content of known size. It fits the 128 MB of a Worker. */
const LARGEST_BYTES = 64 * MEBIBYTE;

/** A write to one key. */
export interface R2Write {
  readonly bucket: R2Bucket;
  readonly key: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly options: WriteOptions;
  /** Bytes held in memory. Content up to this size is stored by one request. */
  readonly partBytes: number;
  /**
   * Checks location and conditions, and returns the entity-tag of the existing file. Rejects if the write is not
   * allowed.
   */
  check(): Promise<string | undefined>;
}

/**
 * Stores content under a key. Content that fits into one part is stored by one `put` with the conditions. Longer
 * content is stored in parts; R2 completes those without conditions, so they are checked just before. A failed write
 * leaves neither an object nor parts, and releases the content.
 */
export async function writeObject(write: R2Write): Promise<R2Object> {
  const { bucket, key, content, options, check } = write;
  const buffers = createPartBuffers();
  const parts = toParts(receive(content, options), { bytesOf: toPartBytes(write), size: options.size }, buffers);
  try {
    const { value: first } = await parts.next();
    if (first === undefined) throw new TypeError("There is no part to upload.");
    options.signal?.throwIfAborted();
    if (!first.isLast) return await writeParts(write, joined(first, parts), buffers);
    const found = await check();
    const object = await mapR2Errors(() => bucket.put(key, first.bytes, toCondition(options, found)));
    if (object === null) throw new StorageError("precondition-failed");
    return object;
  } finally {
    await parts.return(undefined);
  }
}

async function writeParts(
  { bucket, key, options, check }: R2Write,
  parts: AsyncIterable<ObjectPart>,
  buffers: PartBuffers,
): Promise<R2Object> {
  const upload = await mapR2Errors(() => bucket.createMultipartUpload(key));
  try {
    const uploaded: R2UploadedPart[] = [];
    for await (const { number, bytes } of parts) {
      uploaded.push(await mapR2Errors(() => upload.uploadPart(number, bytes)));
      buffers.giveBack(bytes);
    }
    options.signal?.throwIfAborted();
    await check();
    return await mapR2Errors(() => upload.complete(uploaded));
  } catch (error) {
    // If the abort fails, R2 removes the parts after seven days.
    await upload.abort().catch(() => undefined);
    throw error;
  }
}

/**
 * Returns the length of each part. R2 requires parts of equal size except the last. Parts grow if the file would need
 * too many.
 * @throws StorageError `too-large`.
 */
function toPartBytes({ partBytes, options: { size = 0 } }: R2Write): (number: number) => number {
  const bytes = Math.max(partBytes, Math.ceil(size / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  if (bytes > LARGEST_BYTES)
    throw new StorageError("too-large", `The file needs more than ${MAX_PARTS} parts of 64 MiB.`);
  return (number) => {
    if (number > MAX_PARTS) throw new StorageError("too-large", `The file needs more than ${MAX_PARTS} parts.`);
    return bytes;
  };
}

/** Converts conditions to one condition for R2: the version that met them must still exist. */
function toCondition({ ifMatch, ifNoneMatch }: WriteOptions, found: string | undefined): { onlyIf?: R2Condition } {
  if (ifMatch === undefined && ifNoneMatch === undefined) return {};
  return { onlyIf: found === undefined ? { etagDoesNotMatch: "*" } : { etagMatches: found.slice(1, -1) } };
}

/**
 * Calls the binding and maps its failures.
 * @throws StorageError `unavailable`.
 */
export async function mapR2Errors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new StorageError("unavailable", "R2 failed.", { cause });
  }
}
