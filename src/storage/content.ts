import { StorageError, type WriteOptions } from "../contracts/storage-adapter.ts";

/**
 * The chunks of a write's content, taken one by one as they are asked for, and the source released at whatever end.
 * Throws `incomplete` unless they come to the announced size, and the signal's reason at once when it aborts, also
 * while the source is silent.
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
      // A text, say, has no `byteLength`, and NaN would pass for any size.
      if (!ArrayBuffer.isView(next.value)) throw new TypeError("The content is not made of bytes.");
      received += next.value.byteLength;
      if (size !== undefined && received > size) throw new StorageError("incomplete", `More than ${size} bytes came.`);
      yield next.value;
    }
    if (size !== undefined && received < size) {
      throw new StorageError("incomplete", `${received} of ${size} bytes came.`);
    }
  } finally {
    steps.end();
    // Not awaited: a silent source may never answer.
    if (isOpen || signal?.aborted) void release(source);
  }
}

async function release(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.();
  } catch {
    // Why the write ended is known already.
  }
}

/** The steps of an iterator, as long as a signal has not aborted: then the one that is waited for rejects with its reason. */
interface Steps {
  next(): Promise<IteratorResult<Uint8Array>>;
  end(): void;
}

/** One listener for all steps: a file has thousands. */
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
