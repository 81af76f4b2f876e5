import type { StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { createByteCollector } from "../../platform/byte-collector.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { toFileContent } from "../file-content.ts";

/** Writes a text as a file. */
export function writeSmallText(storage: StorageAdapter, path: string, text: string): Promise<StorageEntry> {
  const bytes = new TextEncoder().encode(text);
  async function* content(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return storage.write(path, content(), { size: bytes.byteLength });
}

/** Reads a file as a text. Returns `undefined` if it is too large, or is no UTF-8. */
export async function readSmallText(
  storage: StorageAdapter,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const content = toFileContent(await storage.read(path));
  const collector = createByteCollector();
  let size = 0;
  try {
    for await (const chunk of content.chunks()) {
      size += chunk.byteLength;
      if (size > maxBytes) return undefined;
      collector.add(chunk);
    }
    return decodeUtf8(collector.bytes());
  } finally {
    await content.close();
  }
}
