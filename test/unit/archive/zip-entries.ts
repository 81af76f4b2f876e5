import type { ArchiveOptions, OpenedFile, ZipEntry } from "../../../src/archive/read-ahead.ts";
import { createZip } from "../../../src/archive/zip.ts";
import { type ByteSource, toByteSource, toByteStream } from "../../../src/contracts/byte-source.ts";
import { readAll } from "./read-zip.ts";

export const MODIFIED = new Date("2018-05-04T12:34:57Z");

/** An entry of a file that is as it was listed. */
export function entryOf(name: string, file: OpenedFile): ZipEntry {
  return { name, modified: file.modified, size: file.size, open: async () => file };
}

/** An entry of bytes that come in chunks of a stream. */
export function file(name: string, content: Uint8Array, chunkBytes = 65_536, modified = MODIFIED): ZipEntry {
  const open = async () => ({ modified, size: content.length, source: toByteSource(streamOf(content, chunkBytes)) });
  return { name, modified, size: content.length, open };
}

export function folder(name: string): ZipEntry {
  return { name, modified: MODIFIED, size: 0 };
}

function streamOf(content: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at < content.length) controller.enqueue(content.subarray(at, at + chunkBytes));
        else controller.close();
        at += chunkBytes;
      },
    },
    { highWaterMark: 0 },
  );
}

/** Zeros, without holding them. */
export function zeros(name: string, size: number): ZipEntry {
  let left = size;
  const source: ByteSource = {
    async readInto(buffer) {
      const count = Math.min(left, buffer.byteLength);
      buffer.fill(0, 0, count);
      left -= count;
      return count;
    },
    close: async () => undefined,
  };
  return entryOf(name, { modified: MODIFIED, size, source });
}

/** Bytes without an order that a shift would keep. */
export function bytesOf(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8) * 7) & 0xff);
}

export async function* listed(entries: Iterable<ZipEntry>): AsyncGenerator<ZipEntry> {
  yield* entries;
}

/** An archive as a stream. */
export function streamZip(
  entries: Iterable<ZipEntry> | AsyncIterator<ZipEntry>,
  options?: ArchiveOptions,
): ReadableStream<Uint8Array> {
  return toByteStream(createZip(Symbol.iterator in entries ? listed(entries) : entries, options));
}

/** An archive whole. */
export function zip(entries: Iterable<ZipEntry>, options?: ArchiveOptions): Promise<Buffer> {
  return readAll(streamZip(entries, options));
}

/** An archive read into buffers of such sizes, in turn. */
export async function zipInto(source: ByteSource, sizes: readonly number[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let turn = 0; ; turn++) {
    const buffer = Buffer.alloc(sizes[turn % sizes.length] ?? 1);
    const count = await source.readInto(buffer);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, count));
  }
}
