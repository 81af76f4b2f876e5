import { StorageError } from "../../contracts/storage-adapter.ts";
import { acquireBuffer, createBufferSizer, giveBack } from "../../platform/buffer-pool.ts";
import { mapSystemErrors } from "./errors.ts";
import { writeDescriptor } from "./system-calls.ts";

/**
 * Writes content to an open file from its start. Small chunks are gathered in a buffer, and the next buffer is filled
 * while one is written. The source may reuse a chunk's memory after the next chunk was requested. When the promise
 * settles, no call is pending.
 * @param size the expected number of bytes, if known.
 */
export async function writeContent(
  descriptor: number,
  content: AsyncIterable<Uint8Array>,
  size: number | undefined,
): Promise<void> {
  const sizer = createBufferSizer();
  let buffer: Uint8Array | undefined;
  let filled = 0;
  let position = 0;
  let startedAt = performance.now();
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    if (buffer === undefined) return;
    await writing;
    writing = writeBuffer(descriptor, buffer, filled, position);
    // The promise is awaited later. This handler prevents an unhandled rejection until then.
    writing.catch(() => undefined);
    position += filled;
    filled = 0;
    buffer = undefined;
    const now = performance.now();
    sizer.passed(now - startedAt);
    startedAt = now;
  }

  async function gather(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.byteLength > 0; ) {
      buffer ??= acquireBuffer(sizer.size());
      const part = rest.subarray(0, buffer.byteLength - filled);
      buffer.set(part, filled);
      filled += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (filled === buffer.byteLength) await flush();
    }
  }

  try {
    for await (const chunk of content) {
      // The chunk is the complete content, or as large as a buffer: gathering would only copy it.
      const isEnough = buffer === undefined && (chunk.byteLength === size || chunk.byteLength >= sizer.size());
      if (!isEnough) {
        await gather(chunk);
        continue;
      }
      await writing;
      await writeAll(descriptor, chunk, position);
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
    await writeAll(descriptor, buffer.subarray(0, length), position);
  } finally {
    giveBack(buffer);
  }
}

async function writeAll(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const written = await mapSystemErrors(writeDescriptor(descriptor, bytes.subarray(offset), position + offset));
    if (written === 0) throw new StorageError("unavailable", "The disk accepted no more bytes.");
    offset += written;
  }
}
