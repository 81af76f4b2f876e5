import { FileferryError, throwFailure } from "./error.ts";
import type { ByteStream, OpenContent, UploadContent } from "./options.ts";
import { untilAborted } from "./waits.ts";

type ByteTransform = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;

export function isStream(content: UploadContent): content is ByteStream {
  return typeof content === "object" && "getReader" in content;
}

export function toBlob(content: Exclude<UploadContent, ByteStream | OpenContent>): Blob {
  return typeof content === "object" && "stream" in content ? content : new Blob([content]);
}

/** The size of content in bytes; `undefined` if it is not known. A text may have up to three times as many. */
export function sizeOf(content: UploadContent): number | undefined {
  if (typeof content === "string") return content.length;
  if (typeof content === "function" || isStream(content)) return undefined;
  return "size" in content ? content.size : content.byteLength;
}

/** The content could not be read: repeating the request would not help. */
export class ContentError extends FileferryError {
  constructor(cause: unknown) {
    super("The content could not be read.", { cause });
  }
}

/** Opens content at an offset. @throws ContentError, or the reason of the signal. */
export async function openContent(
  content: OpenContent,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<ByteStream> {
  signal?.throwIfAborted();
  const opening = (async () => content(offset))();
  return untilAborted(opening, signal, (late) => late.cancel()).catch((cause) =>
    throwFailure(new ContentError(cause), signal),
  );
}

/**
 * Passes a stream through another one to what uses it. The source is cancelled here if not all of it is used: Node's
 * `fetch` does not, and a pipe waits with that for chunks that are not taken any more.
 * @throws ContentError if the source fails, whatever `use` makes of that; the reason of the signal, or what `use`
 * rejects with.
 */
export async function useStream<T>(
  source: ByteStream,
  through: ByteTransform,
  signal: AbortSignal | null | undefined,
  use: (body: ByteStream) => Promise<T>,
): Promise<T> {
  let failure: ContentError | undefined;
  const reader = source.getReader();
  const watched: ByteStream = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        failure = new ContentError(cause);
        throw failure;
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return use(watched.pipeThrough(through, signal ? { signal } : {}))
    .catch((error: unknown) => {
      signal?.throwIfAborted();
      throw failure ?? error;
    })
    .finally(() => void reader.cancel(signal?.reason).catch(() => undefined));
}

/** Reads a stream, or what another one leaves of it, into memory. @throws ContentError, or the reason of the signal. */
export function readToEnd(
  source: ByteStream,
  signal: AbortSignal | null | undefined,
  through: ByteTransform = new TransformStream(),
): Promise<Blob> {
  return useStream(source, through, signal, (body) => new Response(body).blob());
}
