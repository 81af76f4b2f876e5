/** What becomes of a byte order mark at the beginning of a text. */
export type ByteOrderMark = "keep" | "remove";

/**
 * Decodes bytes in UTF-8; `undefined` if they are not valid UTF-8. A byte order mark stays in the text by default:
 * without it, two different inputs would be one text.
 */
export function decodeUtf8(bytes: Uint8Array, mark: ByteOrderMark = "keep"): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: mark === "keep" }).decode(bytes);
  } catch {
    return undefined;
  }
}
