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
  let received = 0;
  let isOpen = false;
  try {
    for (;;) {
      isOpen = false;
      const next = await nextUnlessAborted(source, signal);
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

function nextUnlessAborted(
  source: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Uint8Array>> {
  if (signal === undefined) return source.next();
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    source
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}
