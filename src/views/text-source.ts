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
/** The same for each later part: one write to the socket for many pieces. */
const PART_LENGTH = 16_384;
const NO_BYTES = new Uint8Array(0);

/**
 * Opens a text that is sent in UTF-8. Its beginning is made at once, the rest in parts while it is sent. No part but the
 * first is longer than `PART_LENGTH` and one piece, and none waits for more than `beginLength`.
 * @throws what the first pieces throw.
 */
export async function openTextSource(
  { next, close: closePieces }: TextPieces,
  beginLength = BEGIN_LENGTH,
): Promise<TextSource> {
  const encoder = new TextEncoder();
  let isDone = false;
  const partLength = Math.min(beginLength, PART_LENGTH);
  let rest = await makePart(beginLength);

  async function readInto(buffer: Uint8Array): Promise<number> {
    if (rest.byteLength === 0 && !isDone) rest = await makePart(partLength);
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    // An empty part of it would keep all of its bytes in memory, as long as a client does not read.
    rest = part.byteLength === rest.byteLength ? NO_BYTES : rest.subarray(part.byteLength);
    return part.byteLength;
  }

  /** Makes at least so many characters, or what is left. */
  async function makePart(length: number): Promise<Uint8Array> {
    let text = "";
    while (!isDone && text.length < length) {
      const piece = await next();
      isDone ||= piece === undefined;
      text += piece ?? "";
    }
    return encoder.encode(text);
  }

  async function close(): Promise<void> {
    isDone = true;
    rest = NO_BYTES;
    await closePieces();
  }

  return { source: { readInto, close }, length: isDone ? rest.byteLength : undefined };
}
