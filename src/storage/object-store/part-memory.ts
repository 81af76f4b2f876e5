import { StorageError } from "../../contracts/storage-adapter.ts";
import { createFreeBuffers } from "./free-buffers.ts";

/** Memory for the parts of all uploads of one storage. */
export interface PartMemory {
  /** Adds an upload. */
  open(options?: UploadMemoryOptions): UploadMemory;
}

/** Options of {@link PartMemory.open}. */
export interface UploadMemoryOptions {
  /** The uploads of one owner have a common share of the memory. Without an owner, an upload has its own share. */
  readonly owner?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the error when the upload loses its memory, because its client is too slow while others wait. It has to
   * abort the signal. Unlimited memory needs no `end`.
   */
  end?(error: StorageError): void;
}

/** The memory of one upload. It fills one part at a time. */
export interface UploadMemory {
  /**
   * Waits until there is memory for a part, which is then being filled. Resolves with a used buffer of this length if
   * there is one; otherwise the caller has to create it. Rejects with the reason of the signal, and with StorageError
   * `unavailable` if the upload has lost its memory to others.
   */
  take(bytes: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** The part is no longer being filled. */
  finishFilling(): void;
  /** Frees the memory that was taken for a part. Its buffer may be used again. */
  giveBack(buffer: ArrayBuffer, bytes: number): void;
  /** Frees all memory of the upload. */
  close(): void;
}

/** An owner of uploads; a symbol stands for an upload without one. */
type Owner = string | symbol;

/** A part that waits for the bytes of its client. */
interface Filling {
  readonly owner: Owner;
  /** When the part has to be complete if others wait. */
  readonly deadline: number;
  end(): void;
}

/** A part that waits for memory. */
interface Waiting {
  readonly bytes: number;
  grant(): void;
}

/** Maximum size of a part that is held in memory: 64 MiB. The smallest memory has room for one. */
export const MAX_HELD_PART_BYTES = 67_108_864;

/** The part of the memory that one owner may hold: a quarter. */
const SHARE = 1 / 4;
/** The time that a client has for every part while others wait, in milliseconds. */
const FILLING_MS = 30_000;
/** Each byte of a part adds the time that it takes at this speed, in bytes per millisecond. */
const SLOWEST_BYTES_PER_MS = 256;
const CHECK_MS = 1000;

/**
 * Creates the memory of one storage. An owner holds at most its share, but always at least one part. Owners whose parts
 * wait take turns; the parts of one owner get memory in the order of their requests. Memory is counted in whole parts,
 * so that an upload that has taken memory for a part never waits for the memory of another one.
 */
export function createPartMemory(maxBytes: number, clock: () => number = Date.now): PartMemory {
  const free = createFreeBuffers();
  const filling = new Set<Filling>();
  /** The waiting parts by owner, the next owner first. */
  const waiting = new Map<Owner, Set<Waiting>>();
  const bytesOfOwners = new Map<Owner, number>();
  let usedBytes = 0;
  let uploads = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function open({ owner: named, signal, end }: UploadMemoryOptions = {}): UploadMemory {
    const owner = named ?? Symbol("upload");
    let heldBytes = 0;
    let isOpen = true;
    let current: Filling | undefined;
    uploads += 1;

    async function take(bytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
      signal?.throwIfAborted();
      // Otherwise nothing would give it back.
      if (!isOpen) throw new StorageError("unavailable");
      await new Promise<void>((resolve, reject) => {
        function abort(): void {
          stopWaiting(owner, waiter);
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
        startWaiting(owner, waiter);
        grantWaiting();
      });
      return free.take(bytes);
    }

    function hold(bytes: number): void {
      heldBytes += bytes;
      count(owner, bytes);
      current = { owner, deadline: clock() + FILLING_MS + bytes / SLOWEST_BYTES_PER_MS, end: endSlow };
      filling.add(current);
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
      count(owner, -bytes);
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

  /** Adds to the bytes that an owner holds. */
  function count(owner: Owner, bytes: number): void {
    usedBytes += bytes;
    const sum = (bytesOfOwners.get(owner) ?? 0) + bytes;
    if (sum > 0) bytesOfOwners.set(owner, sum);
    else bytesOfOwners.delete(owner);
  }

  function fitsShare(owner: Owner, bytes: number): boolean {
    const held = bytesOfOwners.get(owner) ?? 0;
    return held === 0 || held + bytes <= maxBytes * SHARE;
  }

  function startWaiting(owner: Owner, waiter: Waiting): void {
    const parts = waiting.get(owner);
    if (parts === undefined) waiting.set(owner, new Set([waiter]));
    else parts.add(waiter);
  }

  function stopWaiting(owner: Owner, waiter: Waiting): void {
    const parts = waiting.get(owner);
    parts?.delete(waiter);
    if (parts?.size === 0) waiting.delete(owner);
  }

  /** Owners whose share is full are passed over. No owner overtakes one that waits for the memory of others. */
  function grantWaiting(): void {
    for (const [owner, parts] of waiting) {
      const [next] = parts;
      if (next === undefined || !fitsShare(owner, next.bytes)) continue;
      if (usedBytes + next.bytes > maxBytes) break;
      parts.delete(next);
      // Set again, the owner comes after all others, also in this loop.
      waiting.delete(owner);
      if (parts.size > 0) waiting.set(owner, parts);
      next.grant();
    }
    watchSlowest();
  }

  /** Looks for slow uploads as long as others wait. */
  function watchSlowest(): void {
    if (waiting.size > 0) {
      timer ??= setInterval(endSlowest, CHECK_MS);
    } else {
      clearInterval(timer);
      timer = undefined;
    }
  }

  /** Ends slow uploads, those with the oldest parts first, as long as that helps others. */
  function endSlowest(): void {
    for (const { owner, deadline, end } of filling) {
      if (deadline <= clock() && isWaitedFor(owner)) end();
    }
  }

  /** Whether a part waits for memory of this owner: a part of its own, or one whose owner has not used up its share. */
  function isWaitedFor(owner: Owner): boolean {
    if (waiting.has(owner)) return true;
    for (const [other, [next]] of waiting) if (next !== undefined && fitsShare(other, next.bytes)) return true;
    return false;
  }

  return { open };
}
