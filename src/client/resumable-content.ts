import type { OpenContent, UploadContent } from "./options.ts";
import { isStream, readInto, toBlob, watchReading } from "./streams.ts";

/** Content that can be read again from any byte of it. */
export interface ResumableContent {
  /** In bytes; `undefined` if it is not known. */
  readonly size: number | undefined;
  /**
   * Reads from an offset on: at most `limit` bytes.
   * @throws ContentError
   */
  read(offset: number, limit: number): Promise<ContentPart>;
}

/** What one request sends. */
export interface ContentPart {
  readonly body: Exclude<UploadContent, OpenContent>;
  /** Whether the content ends with it. */
  readonly isLast: boolean;
  /** The error of the stream that the body is; `undefined` as long as there is none. */
  failure?(): ContentError | undefined;
}

/** The content could not be read: repeating the request would not help. */
export class ContentError extends Error {
  constructor(cause: unknown) {
    super("The content could not be read.", { cause });
  }
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
    read: (offset, limit) =>
      orContentError(async () => {
        const stream = await content(offset);
        if (!isInMemory && limit === Number.POSITIVE_INFINITY) {
          let failure: ContentError | undefined;
          const body = watchReading(stream, (cause) => {
            failure = new ContentError(cause);
          });
          return { body, isLast: true, failure: () => failure };
        }
        const { chunks, isComplete } = await readInto(stream, Math.min(limit, MEMORY_PART_BYTES));
        return { body: new Blob(chunks), isLast: isComplete };
      }),
  };
}

function toBlobContent(blob: Blob): ResumableContent {
  return {
    size: blob.size,
    read: (offset, limit) =>
      orContentError(async () => {
        // A file that has changed on the disk cannot be read any more. Requests would fail as if the network had.
        await blob.slice(offset, offset + 1).arrayBuffer();
        return { body: blob.slice(offset, offset + limit), isLast: offset + limit >= blob.size };
      }),
  };
}

function orContentError<T>(read: () => Promise<T>): Promise<T> {
  return read().catch((cause: unknown) => {
    throw new ContentError(cause);
  });
}
