import { createByteCollector } from "./byte-collector.ts";

/** Reads all bytes of a stream; `undefined` if there are more than `maxBytes`, and the rest is left unread. */
export async function readBytes(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const collector = createByteCollector();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return collector.bytes();
    size += value.byteLength;
    if (size > maxBytes) return undefined;
    collector.add(value);
  }
}
