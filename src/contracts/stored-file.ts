import { type ByteSource, sourceOfBytes, toByteStream } from "./byte-source.ts";
import type { StorageEntry, StoredFile } from "./storage-adapter.ts";

/** A file that was opened as bytes or as a source; its stream is made when somebody asks for it. */
export function toStoredFile(entry: StorageEntry, source: Uint8Array | ByteSource): StoredFile {
  let body: ReadableStream<Uint8Array> | undefined;
  return {
    entry,
    source,
    get body() {
      body ??= toByteStream("readInto" in source ? source : sourceOfBytes(source));
      return body;
    },
  };
}
