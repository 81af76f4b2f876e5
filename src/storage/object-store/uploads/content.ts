import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import { watchSteps } from "../../../contracts/watch-steps.ts";
import { type ContentReader, createContentReader } from "../content-reader.ts";
import type { UploadMemory } from "../part-memory.ts";
import { type ObjectPart, toParts } from "../parts.ts";
import type { UploadBucket } from "./bucket.ts";
import type { StoredTail } from "./stored-upload.ts";

/** What was thrown. */
export interface Thrown {
  readonly error: unknown;
}

/** Content that ends where it fails, so that what has arrived is stored. */
export interface ArrivingContent {
  readonly chunks: AsyncGenerator<Uint8Array>;
  failure(): Thrown | undefined;
}

/** Wraps content so that a failure is its end. */
export function untilFailure(content: AsyncIterable<Uint8Array>): ArrivingContent {
  let failure: Thrown | undefined;

  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* content;
    } catch (error) {
      failure = { error };
    }
  }

  return { chunks: chunks(), failure: () => failure };
}

/** Returns a reader of content. */
export function toReader(content: AsyncIterable<Uint8Array>): ContentReader {
  return createContentReader(watchSteps(() => content, {}));
}

/** Puts the bytes after the last part in front of content. Without content, they are not read. */
export async function* behindTail(
  bucket: UploadBucket,
  tail: StoredTail | undefined,
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let first = await chunks.next();
  while (first.done !== true && first.value.byteLength === 0) first = await chunks.next();
  if (first.done === true) return;
  if (tail !== undefined) yield* readTail(bucket, tail);
  yield first.value;
  yield* chunks;
}

/** Reads the bytes after the last part into memory. */
export async function readTailPart(bucket: UploadBucket, tail: StoredTail, memory: UploadMemory): Promise<ObjectPart> {
  const cut = { bytesOf: () => tail.bytes, maxParts: 1, size: tail.bytes };
  const { value } = await toParts(toReader(readTail(bucket, tail)), cut, memory).next();
  if (value === undefined) throw new TypeError("There is no part.");
  return value;
}

async function* readTail(bucket: UploadBucket, { key, bytes }: StoredTail): AsyncGenerator<Uint8Array> {
  let read = 0;
  try {
    for await (const chunk of bucket.readBytes(key)) {
      read += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    // Another call has replaced it. The upload itself is still there.
    throw hasCode(error, "not-found") ? new StorageError("unavailable", `${key} is missing.`, { cause: error }) : error;
  }
  if (read !== bytes) throw new StorageError("unavailable", `${key}: ${read} of ${bytes} bytes`);
}
