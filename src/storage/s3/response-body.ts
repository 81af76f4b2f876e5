import { StorageError } from "../../contracts/storage-adapter.ts";

/** The body of an answer, chunk by chunk. */
export interface S3Body {
  /** The next chunk, which is not empty; `undefined` at the end. Rejects when none comes in time, or the connection breaks. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends the request that it is the answer of; a `read` that is under way rejects. */
  close(): void;
}

/** The largest answer that is read whole: a page of a listing with the longest keys is some 4 MB. */
const MAX_TEXT_BYTES = 33_554_432;

/** The body of a response that may stand still for so many milliseconds; `abort` ends its request. */
export function toBody(stream: ReadableStream<Uint8Array> | null, idle: number, abort: () => void): S3Body {
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
    // Where the abort is not heard, the stream itself is told.
    reader?.cancel().catch(() => undefined);
  }

  return { read, close };
}

/** What `work` resolves with; when that takes longer, `end` is called and this rejects. */
async function inTime<T>(work: Promise<T> | undefined, milliseconds: number, end: () => void): Promise<T | undefined> {
  if (work === undefined) return undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // First: what is ended looks like a body that has come to its end.
      reject(new StorageError("unavailable", "The store's answer stood still."));
      end();
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A body read to its end, as text. */
export async function readText(body: S3Body): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
    bytes += chunk.byteLength;
    if (bytes > MAX_TEXT_BYTES) {
      body.close();
      throw new StorageError("unavailable", "The store's answer is too long.");
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
