/**
 * Reads all bytes of a stream; `undefined` if there are more than `maxBytes`, and the rest is left unread. There is one
 * buffer, so a stream of tiny chunks costs no more than others.
 */
export async function readBytes(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let buffer = new Uint8Array(4096);
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return buffer.subarray(0, size);
    const end = size + value.byteLength;
    if (end > maxBytes) return undefined;
    if (end > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * buffer.byteLength));
      larger.set(buffer.subarray(0, size));
      buffer = larger;
    }
    buffer.set(value, size);
    size = end;
  }
}
