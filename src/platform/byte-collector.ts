/** Joins chunks in one buffer, so that tiny chunks cost no more memory than others. */
export interface ByteCollector {
  /** Copies a chunk to the end of what was added before. */
  add(chunk: Uint8Array): void;
  /** What was added, as a view of the buffer. */
  bytes(): Uint8Array<ArrayBuffer>;
}

/** Makes a collector. Its buffer is at most twice as large as what was added. */
export function createByteCollector(): ByteCollector {
  let buffer = new Uint8Array(0);
  let size = 0;

  function add(chunk: Uint8Array): void {
    const end = size + chunk.byteLength;
    if (end > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * size));
      larger.set(buffer.subarray(0, size));
      buffer = larger;
    }
    buffer.set(chunk, size);
    size = end;
  }

  return { add, bytes: () => buffer.subarray(0, size) };
}
