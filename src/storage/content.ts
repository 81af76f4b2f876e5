import { StorageError, type WriteOptions } from "../contracts/storage-adapter.ts";
import { type Steps, watchSteps } from "../contracts/watch-steps.ts";

/**
 * Returns the chunks of a write's content, and releases the source in every case.
 *
 * Throws `incomplete` if the bytes do not match the announced size. If the signal aborts, throws its reason
 * immediately, also while the source is silent.
 */
export function receive(content: AsyncIterable<Uint8Array>, { size, signal }: WriteOptions): Steps<Uint8Array> {
  let received = 0;

  function onStep(chunk: Uint8Array): void {
    // A string, for example, has no `byteLength`, and a sum of NaN would pass for any size.
    if (!ArrayBuffer.isView(chunk)) throw new TypeError("The content is not made of bytes.");
    received += chunk.byteLength;
    if (size !== undefined && received > size)
      throw new StorageError("incomplete", `The content has more than ${size} bytes.`);
  }

  function onEnd(): void {
    if (size !== undefined && received < size)
      throw new StorageError("incomplete", `The content ended after ${received} of ${size} bytes.`);
  }

  return watchSteps(() => interruptible(content, signal), { onStep, onEnd });
}

/**
 * The content as an iteration that never waits for the release of its source, because a silent source may never settle.
 * If the signal aborts, the pending step rejects with its reason.
 */
function interruptible(content: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  let refuse: (reason: unknown) => void = () => undefined;
  // One listener for all steps, because a large file has thousands of them.
  const abort = (): void => refuse(signal?.reason);
  signal?.addEventListener("abort", abort);

  const stopListening = (): void => signal?.removeEventListener("abort", abort);

  /** Not awaited: a silent source may never settle. */
  async function release(): Promise<void> {
    stopListening();
    try {
      await source.return?.();
    } catch {
      // The caller already gets the reason why the write ended.
    }
  }

  async function next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const step = await (signal === undefined ? source.next() : nextUnlessAborted(signal));
      if (step.done === true) stopListening();
      return step;
    } catch (error) {
      if (signal?.aborted === true) void release();
      else stopListening();
      throw error;
    }
  }

  function nextUnlessAborted(signal: AbortSignal): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      refuse = reject;
      source.next().then(resolve, reject);
    });
  }

  async function end(): Promise<IteratorResult<Uint8Array>> {
    void release();
    return { done: true, value: undefined };
  }

  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}
