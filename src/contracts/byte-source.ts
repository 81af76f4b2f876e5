/**
 * Bytes that are read, one part after the other, into buffers of the reader's own: what grows with the data is not allocated anew for
 * each part, as it is by a `ReadableStream`.
 */
export interface ByteSource {
  /**
   * Puts the next bytes at the begin of `buffer`, which is not empty, and tells how many: at least one, and 0 at the end. One call at a
   * time. Rejects when the bytes cannot be delivered whole; the source is released then, as it is at the end.
   */
  readInto(buffer: Uint8Array): Promise<number>;
  /** Releases what the source holds, once a `readInto` that is under way has come back. May be called again, and after the end. */
  close(): Promise<void>;
}

/** How many bytes a chunk of {@link toByteStream} has at most. */
const CHUNK_BYTES = 131_072;

/** The bytes of a source as a stream, for whoever reads nothing else. Nothing is read ahead; cancelling closes the source. */
export function toByteStream(source: ByteSource): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const buffer = new Uint8Array(CHUNK_BYTES);
        const count = await source.readInto(buffer);
        if (count === 0) controller.close();
        else controller.enqueue(count < buffer.byteLength / 2 ? buffer.slice(0, count) : buffer.subarray(0, count));
      },
      cancel: () => source.close(),
    },
    { highWaterMark: 0 },
  );
}

/** Bytes that are at hand as a source. */
export function sourceOfBytes(bytes: Uint8Array): ByteSource {
  let rest = bytes;
  return {
    async readInto(buffer) {
      const part = rest.subarray(0, buffer.byteLength);
      buffer.set(part);
      rest = rest.subarray(part.byteLength);
      return part.byteLength;
    },
    async close() {
      rest = new Uint8Array(0);
    },
  };
}

/** The rest of a stream as a source. */
export function toByteSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array(0);

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (rest.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) return 0;
      rest = value;
    }
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    rest = rest.subarray(part.byteLength);
    return part.byteLength;
  }

  return { readInto, close: () => reader.cancel() };
}
