import { type ByteSource, sourceOfBytes, toByteStream } from "./byte-source.ts";
import type { StorageEntry, StoredFile } from "./storage-adapter.ts";

interface LazyFile {
  readonly entry: StorageEntry;
  readonly source: Uint8Array | ByteSource;
}

/** Those that were asked for. */
const streams = new WeakMap<LazyFile, ReadableStream<Uint8Array>>();

/** One getter for all: see docs/decisions/0007-memory.md. */
const lazyBody = {
  enumerable: true,
  get(this: LazyFile) {
    const stream =
      streams.get(this) ?? toByteStream("readInto" in this.source ? this.source : sourceOfBytes(this.source));
    streams.set(this, stream);
    return stream;
  },
};

/** A file that was opened as bytes or as a source; its stream is made when somebody asks for it, as a copy (`{ ...file }`) does. */
export function toStoredFile(entry: StorageEntry, source: Uint8Array | ByteSource): StoredFile {
  const file: LazyFile = { entry, source };
  return Object.defineProperty(file, "body", lazyBody) as LazyFile & Pick<StoredFile, "body">;
}
