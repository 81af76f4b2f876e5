import { type ByteSource, sourceOfBytes, toByteSource, toByteStream } from "./byte-source.ts";
import type { StorageEntry, StoredFile } from "./storage-adapter.ts";

interface LazyFile {
  readonly entry: StorageEntry;
  readonly source: Uint8Array | ByteSource;
}

/** The streams of the files whose `body` has been used. */
const streams = new WeakMap<LazyFile, ReadableStream<Uint8Array>>();

/** All files share one getter: a function per file made the heap grow (docs/decisions/0007-memory.md). */
const lazyBody = {
  enumerable: true,
  get(this: LazyFile) {
    const stream = streams.get(this) ?? toByteStream(toReadable(this.source));
    streams.set(this, stream);
    return stream;
  },
};

/**
 * Creates a file from bytes or from a source. Its stream is created when `body` is first used; a copy (`{ ...file }`)
 * uses it.
 */
export function toStoredFile(entry: StorageEntry, source: Uint8Array | ByteSource): StoredFile {
  const file: LazyFile = { entry, source };
  return Object.defineProperty(file, "body", lazyBody) as LazyFile & Pick<StoredFile, "body">;
}

/** The content of a file as a source. Reading `body` may create a stream, so it is the last resort. */
export function toFileSource(file: Pick<StoredFile, "body" | "source">): ByteSource {
  return file.source === undefined ? toByteSource(file.body) : toReadable(file.source);
}

function toReadable(source: Uint8Array | ByteSource): ByteSource {
  return "readInto" in source ? source : sourceOfBytes(source);
}
