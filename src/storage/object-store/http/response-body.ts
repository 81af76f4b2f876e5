import { StorageError } from "../../../contracts/storage-adapter.ts";

/** The body of a response, chunk by chunk. */
export interface StoreBody {
  /**
   * Returns the next chunk, which is never empty, or `undefined` at the end. Rejects if no chunk arrives in time, or
   * the connection breaks.
   */
  read(): Promise<Uint8Array | undefined>;
  /** Aborts the request of this response. A pending `read` rejects. */
  close(): void;
}

/** Maximum size of a response that is read as text. A page of a listing with the longest keys has about 4 MB. */
const MAX_TEXT_BYTES = 33_554_432;

/** Wraps a response body. The body may be silent for `idle` milliseconds; `abort` ends its request. */
export function toBody(stream: ReadableStream<Uint8Array> | null, idle: number, abort: () => void): StoreBody {
  const reader = stream?.getReader();

  async function read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const next = await inTime(reader?.read(), idle, close);
      if (next === undefined || next.done) return undefined;
      if (next.value.byteLength > 0) return next.value;
    }
  }

  function close(): void {
    abort();
    // Some implementations of `fetch` ignore the abort, so the stream is cancelled too.
    reader?.cancel().catch(() => undefined);
  }

  return { read, close };
}

/** Awaits `work`. If that takes longer than `milliseconds`, rejects and calls `end`. */
async function inTime<T>(work: Promise<T> | undefined, milliseconds: number, end: () => void): Promise<T | undefined> {
  if (work === undefined) return undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // Reject first: `end` makes the body look complete.
      reject(new StorageError("unavailable", "The store's response stalled."));
      end();
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a body to its end, as text. */
export async function readText(body: StoreBody): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
    bytes += chunk.byteLength;
    if (bytes > MAX_TEXT_BYTES) {
      body.close();
      throw new StorageError("unavailable", "The store's response is too long.");
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
