import { StorageError } from "../../contracts/storage-adapter.ts";

/** Memory for the parts of all uploads of one storage. */
export interface PartMemory {
  /**
   * Adds an upload. If its client is too slow while other uploads wait for memory, it loses its memory, and `end` is
   * called with the error; it has to abort the signal. Unlimited memory needs no `end`.
   */
  open(signal?: AbortSignal, end?: (error: StorageError) => void): UploadMemory;
}

/** The memory of one upload. It fills one part at a time. */
export interface UploadMemory {
  /**
   * Waits until there is memory for a part, which is then being filled. Resolves with a used buffer of this length, or
   * with an empty one that the caller has to enlarge. Rejects with the reason of the signal.
   */
  take(bytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /** The part is no longer being filled. */
  finishFilling(): void;
  /** Frees the memory that was taken for a part. Its buffer may be used again. */
  giveBack(buffer: ArrayBuffer, bytes: number): void;
  /** Frees all memory of the upload. */
  close(): void;
}

/** A part that waits for the bytes of its client. */
interface Filling {
  /** When the part has to be complete if others wait. */
  readonly deadline: number;
  end(): void;
}

interface Waiting {
  readonly bytes: number;
  grant(): void;
}

/** How long a client may take for a part while others wait: this time, in milliseconds, ... */
const FILLING_MS = 30_000;
/** ... and as long as it would take at this speed, in bytes per millisecond. */
const SLOWEST = 256;
const CHECK_MS = 1000;
/** Maximum size of all free buffers. */
const MAX_FREE_BYTES = 67_108_864;

/**
 * Creates the memory of one storage. Uploads get it in the order of their requests. It counts whole parts, so that an
 * upload that has begun to fill a part never waits for the memory of another one.
 */
export function createPartMemory(maxBytes: number, clock: () => number = Date.now): PartMemory {
  const free = createFreeBuffers();
  const filling = new Set<Filling>();
  const waiting = new Set<Waiting>();
  let usedBytes = 0;
  let uploads = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function open(signal?: AbortSignal, end?: (error: StorageError) => void): UploadMemory {
    let heldBytes = 0;
    let isOpen = true;
    let current: Filling | undefined;
    uploads += 1;

    async function take(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
      signal?.throwIfAborted();
      if (waiting.size === 0 && usedBytes + bytes <= maxBytes) hold(bytes);
      else await waitFor(bytes);
      return free.take(bytes) ?? new Uint8Array(0);
    }

    function hold(bytes: number): void {
      usedBytes += bytes;
      heldBytes += bytes;
      current = { deadline: clock() + FILLING_MS + bytes / SLOWEST, end: endSlow };
      filling.add(current);
    }

    function waitFor(bytes: number): Promise<void> {
      return new Promise((resolve, reject) => {
        function abort(): void {
          stopWaiting(waiter);
          grantWaiting();
          reject(signal?.reason);
        }
        const waiter: Waiting = {
          bytes,
          grant() {
            signal?.removeEventListener("abort", abort);
            hold(bytes);
            resolve();
          },
        };
        signal?.addEventListener("abort", abort, { once: true });
        waiting.add(waiter);
        timer ??= setInterval(endSlowest, CHECK_MS);
      });
    }

    function endSlow(): void {
      close();
      end?.(
        new StorageError("unavailable", "Other uploads wait for memory, and the client sends this one too slowly."),
      );
    }

    function finishFilling(): void {
      if (current !== undefined) filling.delete(current);
    }

    function giveBack(buffer: ArrayBuffer, bytes: number): void {
      if (!isOpen) return;
      if (buffer.byteLength === bytes) free.giveBack(buffer);
      release(bytes);
    }

    function release(bytes: number): void {
      heldBytes -= bytes;
      usedBytes -= bytes;
      grantWaiting();
    }

    function close(): void {
      if (!isOpen) return;
      isOpen = false;
      finishFilling();
      uploads -= 1;
      if (uploads === 0) free.clear();
      release(heldBytes);
    }

    return { take, finishFilling, giveBack, close };
  }

  function grantWaiting(): void {
    for (const waiter of waiting) {
      if (usedBytes + waiter.bytes > maxBytes) return;
      stopWaiting(waiter);
      waiter.grant();
    }
  }

  function stopWaiting(waiter: Waiting): void {
    waiting.delete(waiter);
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Ends uploads with the oldest parts until no other waits. */
  function endSlowest(): void {
    for (const { deadline, end } of filling) {
      if (waiting.size === 0) return;
      if (deadline <= clock()) end();
    }
  }

  return { open };
}

/** Buffers of sent parts, for later parts of the same length. */
interface FreeBuffers {
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  giveBack(buffer: ArrayBuffer): void;
  clear(): void;
}

function createFreeBuffers(): FreeBuffers {
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
