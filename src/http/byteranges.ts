import { type ByteSource, sourceOfBytes } from "../contracts/byte-source.ts";
import { randomHex } from "../platform/random-hex.ts";
import type { RangePart } from "./range.ts";

/** Several parts of one representation as one body (RFC 9110 14.6). */
export interface MultipartRanges {
  readonly contentType: string;
  /** The number of bytes of the body, including the boundaries and part headers. */
  readonly length: number;
  readonly source: ByteSource;
}

/** Opens the bytes of a part. It must return as many bytes as the part has, and all parts must be of one version. */
export type OpenPart = (part: RangePart) => Promise<ByteSource>;

/**
 * Creates the body with several parts of a representation of `size` bytes. Each part is opened when the body reaches
 * it. The boundary is random, so that a file cannot contain it.
 */
export function toMultipartRanges(
  parts: readonly RangePart[],
  size: number,
  type: string,
  open: OpenPart,
): MultipartRanges {
  const boundary = randomHex(16);
  const delimiter = `\r\n--${boundary}`;
  const pieces: Piece[] = [];
  for (const part of parts) {
    const range = `bytes ${part.offset}-${part.offset + part.length - 1}/${size}`;
    pieces.push(toTextPiece(`${delimiter}\r\nContent-Type: ${type}\r\nContent-Range: ${range}\r\n\r\n`));
    pieces.push({ length: part.length, open: () => open(part) });
  }
  pieces.push(toTextPiece(`${delimiter}--\r\n`));
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    source: inSequence(pieces),
  };
}

interface Piece {
  readonly length: number;
  open(): Promise<ByteSource>;
}

function toTextPiece(text: string): Piece {
  const bytes = new TextEncoder().encode(text);
  return { length: bytes.byteLength, open: async () => sourceOfBytes(bytes) };
}

/** Reads pieces one after the other; only one piece is open at a time. */
function inSequence(pieces: readonly Piece[]): ByteSource {
  const waiting = [...pieces];
  let current: ByteSource | undefined;
  let isClosed = false;

  async function readInto(buffer: Uint8Array): Promise<number> {
    for (;;) {
      const count = (await current?.readInto(buffer)) ?? 0;
      if (count > 0) return count;
      current = await waiting.shift()?.open();
      if (current === undefined) return 0;
      // The source was closed while this piece was being opened, so the piece is still open.
      if (isClosed) await current.close();
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    waiting.length = 0;
    await current?.close();
  }

  return { readInto, close };
}
