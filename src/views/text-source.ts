import type { ByteSource } from "../contracts/byte-source.ts";

/** A text that is made while it is sent. */
export interface TextSource {
  readonly source: ByteSource;
  /** The length of the text in bytes, if all of it is made already. */
  readonly length: number | undefined;
}

/** Makes a text in pieces. */
export interface TextPieces {
  /** Returns the next piece, which may be empty; `undefined` at the end. */
  next(): Promise<string | undefined>;
  /** Called if the rest of the text is not needed. */
  close(): Promise<void>;
}

/** How many characters of a text are made before it is sent. */
const BEGIN_LENGTH = 65_536;

/**
 * Opens a text that is sent in UTF-8. Its beginning is made at once, the rest while it is sent: of the rest only one
 * piece is in memory.
 * @throws what the first pieces throw.
 */
export async function openTextSource(
  { next, close: closePieces }: TextPieces,
  beginLength = BEGIN_LENGTH,
): Promise<TextSource> {
  const encoder = new TextEncoder();
  let isDone = false;
  let begin = "";
  while (!isDone && begin.length < beginLength) begin += await nextText();
  let rest = encoder.encode(begin);

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (rest.byteLength === 0 && !isDone) rest = encoder.encode(await nextText());
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    rest = rest.subarray(part.byteLength);
    return part.byteLength;
  }

  async function nextText(): Promise<string> {
    const text = await next();
    isDone = text === undefined;
    return text ?? "";
  }

  async function close(): Promise<void> {
    isDone = true;
    rest = new Uint8Array(0);
    await closePieces();
  }

  return { source: { readInto, close }, length: isDone ? rest.byteLength : undefined };
}
