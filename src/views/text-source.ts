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
 * Opens a text that is sent in UTF-8. Its beginning is made at once, the rest in parts while it is sent, so that one
 * write to the socket has many pieces. A later part has a quarter of `beginLength`, and at most one piece more.
 * @throws what the first pieces throw.
 */
export async function openTextSource(
  { next, close: closePieces }: TextPieces,
  beginLength = BEGIN_LENGTH,
): Promise<TextSource> {
  const encoder = new TextEncoder();
  let isDone = false;
  let rest = await makePart(beginLength);

  async function readInto(buffer: Uint8Array): Promise<number> {
    if (!isDone && rest.length === 0) rest = await makePart(beginLength / 4);
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    // A copy of what is left, so that the rest is not held while a client does not read.
    rest = rest.slice(part.length);
    return part.length;
  }

  /** Makes at least `length` characters, or what is left. */
  async function makePart(length: number): Promise<Uint8Array> {
    let text = "";
    while (!isDone && text.length < length) {
      const piece = await next();
      if (piece === undefined) isDone = true;
      else text += piece;
    }
    return encoder.encode(text);
  }

  async function close(): Promise<void> {
    isDone = true;
    rest = new Uint8Array(0);
    await closePieces();
  }

  return { source: { readInto, close }, length: isDone ? rest.byteLength : undefined };
}
