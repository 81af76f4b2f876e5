import type { StoredFile } from "../contracts/storage-adapter.ts";
import { toFileSource } from "../contracts/stored-file.ts";

const CHUNK_BYTES = 65_536;

/** The bytes of an open file as the content of a write. */
export interface FileContent {
  chunks(): AsyncGenerator<Uint8Array>;
  /** Releases the file. May be called at any time, and also if no chunk was read. */
  close(): Promise<void>;
}

/** Returns the bytes of an open file as the content of a write. */
export function toFileContent(file: Pick<StoredFile, "body" | "source">): FileContent {
  const { source: own } = file;
  if (own !== undefined && !("readInto" in own)) return toContentInMemory(own);
  const source = toFileSource(file);

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const buffer = new Uint8Array(CHUNK_BYTES);
      const count = await source.readInto(buffer);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  }

  return { chunks, close: () => source.close().catch(() => undefined) };
}

/** Bytes in memory are not copied: a new buffer for each of many small files would keep the garbage collector busy. */
function toContentInMemory(bytes: Uint8Array): FileContent {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
  }

  return { chunks, close: async () => undefined };
}
