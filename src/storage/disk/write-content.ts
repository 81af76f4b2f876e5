import { StorageError } from "../../contracts/storage-adapter.ts";
import { acquireBuffer, createBufferSizer, giveBack } from "../../platform/buffer-pool.ts";
import { mapSystemErrors } from "./errors.ts";
import { writeDescriptor } from "./system-calls.ts";

/** Options of {@link writeContent}. */
export interface WriteContentOptions {
  /** The expected number of bytes, if known. */
  readonly size?: number | undefined;
  /** Where the first byte goes. Default: the start of the file. */
  readonly position?: number;
  /** If the content fails, write what has arrived before the promise rejects. */
  readonly keepsPart?: boolean;
}

/**
 * Writes content to an open file, in the order of its bytes. Small chunks are gathered in a buffer, and the next buffer
 * is filled while one is written. The source may reuse a chunk's memory after the next chunk was requested. When the
 * promise settles, no call is pending.
 */
export async function writeContent(
  descriptor: number,
  content: AsyncIterable<Uint8Array>,
  { size, position: start = 0, keepsPart = false }: WriteContentOptions,
): Promise<void> {
  const sizer = createBufferSizer();
  let buffer: Uint8Array | undefined;
  let filled = 0;
  let position = start;
  let startedAt = performance.now();
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    if (buffer === undefined) return;
    if (writing) await writing;
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

  async function writeChunks(): Promise<void> {
    for await (const chunk of content) {
      // The chunk is the complete content, or as large as a buffer: gathering would only copy it.
      const isEnough = buffer === undefined && (chunk.byteLength === size || chunk.byteLength >= sizer.size());
      if (!isEnough) {
        await gather(chunk);
        continue;
      }
      if (writing) await writing;
      await writeAll(descriptor, chunk, position);
      position += chunk.byteLength;
    }
  }

  try {
    try {
      await writeChunks();
    } catch (error) {
      if (keepsPart) {
        await flush();
        await writing;
      }
      throw error;
    }
    if (buffer !== undefined) await flush();
    if (writing) await writing;
  } finally {
    if (buffer !== undefined) giveBack(buffer);
    if (writing) await writing.catch(() => undefined);
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
