import { type ByteSource, sourceOfBytes } from "../contracts/byte-source.ts";
import type { RangePart } from "./range.ts";

/** Several parts of one representation as one body (RFC 9110 14.6). */
export interface MultipartRanges {
  readonly contentType: string;
  /** Bytes of the body, all that stands around the parts included. */
  readonly length: number;
  readonly source: ByteSource;
}

/** Opens the bytes of a part; they must be as many as it has, and of the one version that all parts are of. */
export type OpenPart = (part: RangePart) => Promise<ByteSource>;

/** The body with several parts of `size` bytes of a type. Each is opened when its turn comes; nobody can tell the boundary beforehand. */
export function toMultipartRanges(
  parts: readonly RangePart[],
  size: number,
  type: string,
  open: OpenPart,
): MultipartRanges {
  const boundary = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"));
  const delimiter = `\r\n--${boundary.join("")}`;
  const pieces: Piece[] = [];
  for (const part of parts) {
    const range = `bytes ${part.offset}-${part.offset + part.length - 1}/${size}`;
    pieces.push(toTextPiece(`${delimiter}\r\nContent-Type: ${type}\r\nContent-Range: ${range}\r\n\r\n`));
    pieces.push({ length: part.length, open: () => open(part) });
  }
  pieces.push(toTextPiece(`${delimiter}--\r\n`));
  return {
    contentType: `multipart/byteranges; boundary=${boundary.join("")}`,
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

/** Pieces one behind the other, of which one is open at a time. */
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
      // Whoever closed this while the piece was being opened could not close that.
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
