import { StorageError, type WriteOptions } from "../contracts/storage-adapter.ts";

/**
 * Yields the chunks of a write's content and releases the source in every case.
 *
 * Throws `incomplete` if the bytes do not match the announced size. If the signal aborts, throws its reason
 * immediately, also while the source is silent.
 */
export async function* receive(
  content: AsyncIterable<Uint8Array>,
  { size, signal }: WriteOptions,
): AsyncGenerator<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  const steps = untilAborted(source, signal);
  let received = 0;
  let isOpen = false;
  try {
    for (;;) {
      isOpen = false;
      const next = await steps.next();
      isOpen = !next.done;
      if (next.done) break;
      // A string, for example, has no `byteLength`, and a sum of NaN would pass for any size.
      if (!ArrayBuffer.isView(next.value)) throw new TypeError("The content is not made of bytes.");
      received += next.value.byteLength;
      if (size !== undefined && received > size)
        throw new StorageError("incomplete", `The content has more than ${size} bytes.`);
      yield next.value;
    }
    if (size !== undefined && received < size) {
      throw new StorageError("incomplete", `The content ended after ${received} of ${size} bytes.`);
    }
  } finally {
    steps.end();
    // Not awaited, because a silent source may never settle.
    if (isOpen || signal?.aborted) void release(source);
  }
}

async function release(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.();
  } catch {
    // The caller already gets the reason why the write ended.
  }
}

/** The steps of an iterator. If the signal aborts, the pending step rejects with its reason. */
interface Steps {
  next(): Promise<IteratorResult<Uint8Array>>;
  end(): void;
}

/** Registers one listener for all steps, because a large file has thousands of them. */
function untilAborted(source: AsyncIterator<Uint8Array>, signal: AbortSignal | undefined): Steps {
  if (signal === undefined) return { next: () => source.next(), end: () => undefined };
  let refuse: (reason: unknown) => void = () => undefined;
  const abort = (): void => refuse(signal.reason);
  signal.addEventListener("abort", abort);

  function next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      refuse = reject;
      source.next().then(resolve, reject);
    });
  }

  return { next, end: () => signal.removeEventListener("abort", abort) };
}
