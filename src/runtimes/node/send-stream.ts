import { type ChunkReader, toBytes } from "../chunk-reader.ts";
import { type Exchange, releaseReader } from "./exchange.ts";
import { resetSocket } from "./reset-socket.ts";
import { writeHead } from "./write-head.ts";

/** The head of a response, not yet written. */
export interface Head {
  readonly status: number;
  /** Alternating names and values, the fastest form for `writeHead`; a repeated name stays repeated. */
  readonly fields: string[];
  /** The `Content-Length` that the service promises. */
  readonly length: number | undefined;
  /** Whether the response closes the connection: the request's body is unread, or the server is draining. */
  readonly closes: boolean;
}

/**
 * The size of the largest write of a body that is complete or comes in chunks. Node reports a write when the system has
 * taken all of it, so during a larger one a slow client would seem to read nothing (`enforceMinThroughput`). Only
 * `sendSource` writes more: up to 512 KiB, and less for a slow client (`createBufferSizer`).
 */
export const MAX_WRITE_BYTES = 65_536;

/**
 * Sends a body in chunks, as fast as the client reads. If the source fails, or has more or fewer bytes than promised,
 * the client gets 500 before the first chunk and a broken connection after it: an incomplete body never looks complete.
 * Never rejects.
 */
export async function sendChunks(exchange: Exchange, reader: ChunkReader, head: Head): Promise<void> {
  exchange.reader = reader;
  exchange.res.on("drain", () => exchange.wake?.());
  try {
    await copyChunks(exchange, reader, head);
  } catch {
    releaseReader(exchange);
    failResponse(exchange, head);
  }
}

/**
 * Responds with a blank 500, or breaks the connection if the head is already sent or cannot be. Never throws, also if a
 * middleware has replaced methods of the response by others that do.
 */
export function failResponse(exchange: Exchange, { closes, length }: Pick<Head, "closes" | "length">): void {
  const { res } = exchange;
  if (exchange.isDisconnected) return;
  if (res.headersSent) {
    breakResponse(exchange, length);
    return;
  }
  try {
    // Otherwise the reason phrase of the failed response would stay.
    res.statusMessage = "Internal Server Error";
    writeHead(res, 500, closes ? ["Content-Length", "0", "Connection", "close"] : ["Content-Length", "0"]);
    res.end();
  } catch {
    breakResponse(exchange, length);
  }
}

async function copyChunks(exchange: Exchange, reader: ChunkReader, head: Head): Promise<void> {
  const { res } = exchange;
  const { length } = head;
  const most = length ?? Number.POSITIVE_INFINITY;
  let sent = 0;
  let last: Uint8Array | string | undefined;
  for (;;) {
    const chunk = await readChunk(exchange, reader);
    if (exchange.isDisconnected) return;
    if (chunk === undefined) break;
    sent += sizeOf(chunk);
    if (sent > most) throw new RangeError("The body has more bytes than Content-Length");
    const parts = toParts(chunk);
    // The part that completes the length is held back until the source has ended without an error.
    if (sent === most) last ??= parts.pop();
    await writeParts(exchange, parts, head);
    if (exchange.isDisconnected) return;
  }
  if (length !== undefined && sent < length) throw new RangeError("The body has fewer bytes than Content-Length");
  if (!res.headersSent) writeHead(res, head.status, head.fields);
  if (last === undefined) return void res.end();
  exchange.sentBytes += sizeOf(last);
  res.end(last);
}

/** Writes parts as fast as the client reads, until it disconnects. */
async function writeParts(exchange: Exchange, parts: readonly (Uint8Array | string)[], head: Head): Promise<void> {
  for (const part of parts) {
    if (!writeChunk(exchange, part, head)) await drained(exchange);
    if (exchange.isDisconnected) return;
  }
}

/** A chunk as writes of at most `MAX_WRITE_BYTES`; at least one. */
function toParts(chunk: Uint8Array | string): (Uint8Array | string)[] {
  if (sizeOf(chunk) <= MAX_WRITE_BYTES) return [chunk];
  const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; start += MAX_WRITE_BYTES) {
    parts.push(bytes.subarray(start, start + MAX_WRITE_BYTES));
  }
  return parts;
}

/** Reads the next chunk; `undefined` at the end. After the end or a failure the source needs no cancelling. */
async function readChunk(exchange: Exchange, reader: ChunkReader): Promise<Uint8Array | string | undefined> {
  let result: Awaited<ReturnType<ChunkReader["read"]>>;
  try {
    result = await reader.read();
  } catch (error) {
    exchange.reader = undefined;
    throw error;
  }
  if (!result.done) return toChunk(result.value);
  exchange.reader = undefined;
  return undefined;
}

function toChunk(value: unknown): Uint8Array | string {
  if (typeof value === "string") return value;
  if (ArrayBuffer.isView(value)) return toBytes(value);
  throw new TypeError("A body chunk is neither bytes nor text");
}

function sizeOf(chunk: Uint8Array | string): number {
  return typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
}

/** Writes a chunk; returns false if the client is slow. Skips an empty chunk, which would end a chunked body. */
function writeChunk(exchange: Exchange, chunk: Uint8Array | string, { status, fields }: Head): boolean {
  const { res } = exchange;
  if (chunk.length === 0) return true;
  exchange.sentBytes += sizeOf(chunk);
  if (!res.headersSent) writeHead(res, status, fields);
  return res.write(chunk);
}

function drained(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => {
    exchange.wake = resolve;
  });
}

/** Closes the connection so that the client cannot mistake a part for the complete body. */
function breakResponse(exchange: Exchange, length: number | undefined): void {
  const { req, res } = exchange;
  const { socket } = res;
  // A body of HTTP/1.0 ends with its connection, so after a FIN it looks complete: only a RST does not.
  const endsByClose = length === undefined && req.httpVersionMinor === 0;
  if (endsByClose && socket !== null) resetSocket(socket);
  else res.destroy();
}
