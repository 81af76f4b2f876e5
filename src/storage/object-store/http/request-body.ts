/** Content that is sent as it arrives. It can be sent only once. */
export interface StoreStreamedBody {
  readonly byteLength: number;
  readonly chunks: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Gets the progress of a streamed body, so that only the store's time counts. */
export interface StoreBodyWatcher {
  /** The body waits for its content. */
  onWait(): void;
  /** The store has to take the next bytes, or to respond. */
  onBytes(): void;
}

/** The body of a request, with the options and the header that it needs. */
export interface StoreRequestBody {
  readonly body: BodyInit;
  /** Length of the body, if the runtime does not send it by itself. */
  readonly contentLength?: number;
  readonly duplex?: "half";
}

/** The part of a runtime that this file looks at. */
interface Runtime {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> };
  readonly navigator?: { readonly userAgent?: string };
}

/** Smaller bodies are not sent as a stream. */
const LARGE_BYTES = 262_144;
const CHUNK_BYTES = 131_072;

/**
 * Only Node sends a stream with the `Content-Length` of the headers. Other runtimes use chunked transfer coding, which
 * stores reject.
 */
export const canStreamToStore = isNodeItself(globalThis as Runtime);

/**
 * Converts bytes to a body. Node's `fetch` copies the bytes that it receives, and each copy lives until the next full
 * garbage collection. Therefore Node gets large bodies as a stream, which is not copied.
 */
export function toStoreRequestBody(bytes: Uint8Array<ArrayBuffer>): StoreRequestBody {
  if (!canStreamToStore || bytes.byteLength < LARGE_BYTES) return { body: bytes };
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(sent, sent + CHUNK_BYTES));
        sent += CHUNK_BYTES;
        if (sent >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, contentLength: bytes.byteLength, duplex: "half" };
}

/** Converts content that arrives later to a body. */
export function toStoreStreamedBody(
  content: StoreStreamedBody,
  { onWait, onBytes }: StoreBodyWatcher,
): StoreRequestBody {
  const chunks = content.chunks[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        onWait();
        const step = await chunks.next();
        onBytes();
        if (step.done === true) controller.close();
        else controller.enqueue(step.value);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, contentLength: content.byteLength, duplex: "half" };
}

function isNodeItself({ process, navigator }: Runtime): boolean {
  const { node, deno, bun } = process?.versions ?? {};
  return node !== undefined && deno === undefined && bun === undefined && navigator?.userAgent !== "Cloudflare-Workers";
}
