import type { ByteSource } from "../../contracts/byte-source.ts";
import { type Ask, applyFault, leave } from "./faults.ts";

const DONE = { done: true, value: undefined } as const;
const NOTHING = new Uint8Array(0);

/** Wraps the bytes on their way to a reader, with faults. */
export function toFaultySource(source: ByteSource, ask: Ask): ByteSource {
  const left = new AbortController();
  let count = 0;
  let rest: Uint8Array = NOTHING;
  let most = 0;
  let isEnded = false;

  async function readInto(buffer: Uint8Array): Promise<number> {
    if (isEnded) return 0;
    try {
      return rest.byteLength > 0 ? passOn(buffer) : await readNext(buffer);
    } catch (error) {
      isEnded = true;
      await source.close();
      throw error;
    }
  }

  async function readNext(buffer: Uint8Array): Promise<number> {
    const taken = await source.readInto(buffer);
    if (taken === 0) {
      await applyFault(ask("end"), [left.signal]);
      isEnded = true;
      return 0;
    }
    count += 1;
    most = await applyFault(ask("chunk", count), [left.signal]);
    if (most >= taken) return taken;
    rest = buffer.slice(0, taken);
    if (most > 0) return passOn(buffer);
    isEnded = true;
    await source.close();
    return 0;
  }

  function passOn(buffer: Uint8Array): number {
    const part = rest.subarray(0, Math.min(most, buffer.byteLength));
    buffer.set(part);
    rest = rest.subarray(part.byteLength);
    return part.byteLength;
  }

  async function close(): Promise<void> {
    leave(left);
    await source.close();
  }

  return { readInto, close };
}

/** Wraps the content on its way to the storage, with faults. */
export function toFaultyContent(
  content: AsyncIterable<Uint8Array>,
  ask: Ask,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  function iterate(): AsyncIterator<Uint8Array> {
    const source = content[Symbol.asyncIterator]();
    const left = new AbortController();
    const ends = [signal, left.signal];
    let count = 0;
    let rest: Uint8Array = NOTHING;
    let most = 0;
    let isEnded = false;

    async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
      if (isEnded) return DONE;
      if (rest.byteLength > 0) return passOn();
      const taken = await source.next();
      if (!taken.done) return meet(taken.value);
      isEnded = true;
      await applyFault(ask("end"), ends);
      return DONE;
    }

    async function meet(chunk: Uint8Array): Promise<IteratorResult<Uint8Array, undefined>> {
      count += 1;
      try {
        most = await applyFault(ask("chunk", count), ends);
      } catch (error) {
        giveUp();
        throw error;
      }
      if (most === 0) return giveUp();
      // Passes on values that are not chunks too, so that the storage rejects them.
      if (most === Number.POSITIVE_INFINITY || chunk.byteLength === 0) return { done: false, value: chunk };
      rest = chunk;
      return passOn();
    }

    function passOn(): IteratorResult<Uint8Array, undefined> {
      const part = rest.subarray(0, most);
      rest = rest.subarray(part.byteLength);
      return { done: false, value: part };
    }

    /** Not awaited, because a silent source may never settle. The reason of the end is already known. */
    function giveUp(): typeof DONE {
      isEnded = true;
      source.return?.().catch(() => undefined);
      return DONE;
    }

    async function leaveSource(): Promise<IteratorResult<Uint8Array, undefined>> {
      leave(left);
      await source.return?.();
      return DONE;
    }

    return { next, return: leaveSource };
  }

  return { [Symbol.asyncIterator]: iterate };
}
