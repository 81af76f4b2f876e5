import { StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { createContentReader } from "../object-store/content-reader.ts";
import type { PartMemory } from "../object-store/part-memory.ts";
import { joined, type ObjectPart, toParts } from "../object-store/parts.ts";
import type { R2Bucket, R2Condition, R2Metadata, R2Object, R2UploadedPart } from "./binding.ts";

/** Maximum number of parts of an upload. */
export const MAX_PARTS = 10_000;

/** A write to one key. */
export interface R2Write {
  readonly bucket: R2Bucket;
  readonly key: string;
  readonly content: AsyncIterable<Uint8Array>;
  readonly options: WriteOptions;
  /** Bytes held in memory. Content up to this size is stored by one request. */
  readonly partBytes: number;
  readonly memory: PartMemory;
  /** Default: none. */
  readonly metadata?: R2Metadata;
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
  const { bucket, key, content, options, metadata, check } = write;
  const bytesOf = toPartBytes(write);
  const memory = write.memory.open({ signal: options.signal });
  const reader = createContentReader(receive(content, options));
  const parts = toParts(reader, { bytesOf, maxParts: Number.POSITIVE_INFINITY, size: options.size }, memory);
  try {
    const { value: first } = await parts.next();
    if (first === undefined) throw new TypeError("There is no part to upload.");
    options.signal?.throwIfAborted();
    if (!first.isLast) return await writeParts(write, joined(first, parts));
    const found = await check();
    const object = await mapR2Errors(() =>
      bucket.put(key, first.bytes(), { ...metadata, ...toCondition(options, found) }),
    );
    if (object === null) throw new StorageError("precondition-failed");
    return object;
  } finally {
    memory.close();
    await reader.close();
  }
}

async function writeParts(
  { bucket, key, options, metadata, check }: R2Write,
  parts: AsyncIterable<ObjectPart>,
): Promise<R2Object> {
  const upload = await mapR2Errors(() => bucket.createMultipartUpload(key, metadata));
  try {
    const uploaded: R2UploadedPart[] = [];
    for await (const part of parts) {
      uploaded.push(await mapR2Errors(() => upload.uploadPart(part.number, part.bytes())));
      part.release();
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
 * Returns the length of each part. R2 requires parts of equal size except the last. They do not grow with the announced
 * size, because a client may announce much and send little.
 * @throws StorageError `too-large`.
 */
function toPartBytes({ partBytes, options: { size = 0 } }: R2Write): (number: number) => number {
  function bytesOf(number: number): number {
    if (number > MAX_PARTS) throw new StorageError("too-large", `The file needs more than ${MAX_PARTS} parts.`);
    return partBytes;
  }

  bytesOf(Math.ceil(size / partBytes));
  return bytesOf;
}

/** Converts conditions to one condition for R2: the version that met them must still exist. */
export function toCondition(
  { ifMatch, ifNoneMatch }: WriteOptions,
  found: string | undefined,
): { onlyIf?: R2Condition } {
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
