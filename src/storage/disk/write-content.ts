import { StorageError } from "../../contracts/storage-adapter.ts";
import { acquireBuffer, createBufferSizer, giveBack } from "../../platform/buffer-pool.ts";
import { mapSystemErrors } from "./errors.ts";
import { writeDescriptor } from "./system-calls.ts";

/**
 * Writes content to an open file from its begin on. Chunks are gathered, and while one buffer is written the next is filled: the source may
 * use a chunk's memory again once it is asked for the next. When the promise settles nothing is under way any more.
 *
 * @param size the bytes that are expected, if they are known.
 */
export async function fillFile(
  descriptor: number,
  content: AsyncIterable<Uint8Array>,
  size: number | undefined,
): Promise<void> {
  const guard = createBufferSizer();
  let buffer: Uint8Array | undefined;
  let filled = 0;
  let position = 0;
  let startedAt = performance.now();
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    if (buffer === undefined) return;
    await writing;
    writing = writeBuffer(descriptor, buffer, filled, position);
    // It is waited for later; until then its failure is nobody's.
    writing.catch(() => undefined);
    position += filled;
    filled = 0;
    buffer = undefined;
    const now = performance.now();
    guard.passed(now - startedAt);
    startedAt = now;
  }

  async function gather(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.byteLength > 0; ) {
      buffer ??= acquireBuffer(guard.size());
      const part = rest.subarray(0, buffer.byteLength - filled);
      buffer.set(part, filled);
      filled += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (filled === buffer.byteLength) await flush();
    }
  }

  try {
    for await (const chunk of content) {
      // All that there is, or as much as would be gathered: there is nothing to wait for.
      const isEnough = buffer === undefined && (chunk.byteLength === size || chunk.byteLength >= guard.size());
      if (!isEnough) {
        await gather(chunk);
        continue;
      }
      await writing;
      await writeWhole(descriptor, chunk, position);
      position += chunk.byteLength;
    }
    await flush();
    await writing;
  } finally {
    if (buffer !== undefined) giveBack(buffer);
    await writing?.catch(() => undefined);
  }
}

async function writeBuffer(descriptor: number, buffer: Uint8Array, length: number, position: number): Promise<void> {
  try {
    await writeWhole(descriptor, buffer.subarray(0, length), position);
  } finally {
    giveBack(buffer);
  }
}

async function writeWhole(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const written = await mapSystemErrors(writeDescriptor(descriptor, bytes.subarray(offset), position + offset));
    if (written === 0) throw new StorageError("unavailable", "The disk took no more bytes.");
    offset += written;
  }
}
