import { type ByteSource, sourceOfBytes, toByteStream } from "./byte-source.ts";
import type { StorageEntry, StoredFile } from "./storage-adapter.ts";

/** A file that was opened as bytes or as a source; its stream is made when somebody asks for it, so that a copy of its own fields (`{ ...file }`) has none. */
export function toStoredFile(entry: StorageEntry, source: Uint8Array | ByteSource): StoredFile {
  return new OpenedFile(entry, source);
}

/** A class, as each object with a getter of its own has a shape of its own: V8 keeps those, and all they lead to, until it looks through the old. */
class OpenedFile implements StoredFile {
  readonly entry: StorageEntry;
  readonly source: Uint8Array | ByteSource;
  #body: ReadableStream<Uint8Array> | undefined;

  constructor(entry: StorageEntry, source: Uint8Array | ByteSource) {
    this.entry = entry;
    this.source = source;
  }

  get body(): ReadableStream<Uint8Array> {
    this.#body ??= toByteStream("readInto" in this.source ? this.source : sourceOfBytes(this.source));
    return this.#body;
  }
}
