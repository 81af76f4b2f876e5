import type { ByteStream, OpenContent, UploadContent } from "./options.ts";
import { isStream, openContent, readToEnd, toBlob } from "./streams.ts";

/** Content that can be read again from any byte of it. */
export interface ResumableContent {
  /** In bytes; `undefined` if it is not known. */
  readonly size: number | undefined;
  /**
   * Reads from an offset on: at most `limit` bytes.
   * @throws ContentError, or the reason of the signal.
   */
  read(offset: number, limit: number, signal: AbortSignal | undefined): Promise<ContentPart>;
}

/** What one request sends. */
export interface ContentPart {
  readonly body: Exclude<UploadContent, OpenContent>;
  /** Whether the content ends with it. */
  readonly isLast: boolean;
}

/** Where streams cannot be sent, parts of them are read into memory. */
const MEMORY_PART_BYTES = 16 * 1024 ** 2;

/** Returns the content so that it can be read again; `undefined` for a stream, which can be read once. */
export function toResumableContent(content: UploadContent, size: number | undefined): ResumableContent | undefined {
  if (isStream(content)) return undefined;
  if (typeof content !== "function") return toBlobContent(toBlob(content));
  const isInMemory = typeof XMLHttpRequest === "function";
  return {
    size,
    async read(offset, limit, signal) {
      const stream = await openContent(content, offset, signal);
      return isInMemory || limit < Number.POSITIVE_INFINITY
        ? readPart(stream, Math.min(limit, MEMORY_PART_BYTES), signal)
        : { body: stream, isLast: true };
    },
  };
}

/** Reads at most `limit` bytes of a stream, and closes it. @throws ContentError */
async function readPart(stream: ByteStream, limit: number, signal: AbortSignal | undefined): Promise<ContentPart> {
  let left = limit;
  let isLast = false;
  const part = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.byteLength;
      if (left <= 0) controller.terminate();
    },
    flush() {
      isLast = true;
    },
  });
  return { body: await readToEnd(stream, signal, part), isLast };
}

function toBlobContent(blob: Blob): ResumableContent {
  return {
    size: blob.size,
    async read(offset, limit, signal) {
      // A file that has changed on the disk cannot be read any more. Requests would fail as if the network had.
      await readToEnd(blob.slice(offset, offset + 1).stream(), signal);
      return { body: blob.slice(offset, offset + limit), isLast: offset + limit >= blob.size };
    },
  };
}
