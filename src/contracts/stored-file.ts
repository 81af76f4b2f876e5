import { type ByteSource, sourceOfBytes, toByteStream } from "./byte-source.ts";
import type { StorageEntry, StoredFile } from "./storage-adapter.ts";

const STREAM: unique symbol = Symbol("stream");

interface LazyFile {
  readonly entry: StorageEntry;
  readonly source: Uint8Array | ByteSource;
  /** Once it was asked for. */
  [STREAM]?: ReadableStream<Uint8Array>;
}

/** One getter for all: see docs/decisions/0007-memory.md. */
const lazyBody = {
  enumerable: true,
  get(this: LazyFile) {
    this[STREAM] ??= toByteStream("readInto" in this.source ? this.source : sourceOfBytes(this.source));
    return this[STREAM];
  },
};

/** A file that was opened as bytes or as a source; its stream is made when somebody asks for it. */
export function toStoredFile(entry: StorageEntry, source: Uint8Array | ByteSource): StoredFile {
  const file: LazyFile = { entry, source };
  return Object.defineProperty(file, "body", lazyBody) as LazyFile & Pick<StoredFile, "body">;
}
