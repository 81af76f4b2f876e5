/** Maximum size of all free buffers. */
const MAX_FREE_BYTES = 67_108_864;

/** Buffers of sent parts, for later parts of the same length. */
export interface FreeBuffers {
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  giveBack(buffer: ArrayBuffer): void;
  clear(): void;
}

/** Creates an empty store of buffers. */
export function createFreeBuffers(): FreeBuffers {
  let buffers: ArrayBuffer[] = [];
  let freeBytes = 0;

  function take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    const index = buffers.findLastIndex(({ byteLength }) => byteLength === bytes);
    const [buffer] = index === -1 ? [] : buffers.splice(index, 1);
    if (buffer === undefined) return undefined;
    freeBytes -= bytes;
    return new Uint8Array(buffer);
  }

  function giveBack(buffer: ArrayBuffer): void {
    if (freeBytes + buffer.byteLength > MAX_FREE_BYTES) return;
    buffers.push(buffer);
    freeBytes += buffer.byteLength;
  }

  function clear(): void {
    buffers = [];
    freeBytes = 0;
  }

  return { take, giveBack, clear };
}
