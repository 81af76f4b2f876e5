import type { ByteSource } from "../../contracts/byte-source.ts";
import { acquireBuffer, createBufferSizer, dropBuffer, giveBack } from "../../platform/buffer-pool.ts";
import { type Exchange, releaseReader } from "./exchange.ts";
import { failResponse, type Head } from "./send-stream.ts";
import { writeHead } from "./write-head.ts";

/**
 * Sends a body from a source through one buffer, which is filled again when the socket has taken its content. Fails as
 * `sendChunks` does. Never rejects.
 */
export async function sendSource(exchange: Exchange, source: ByteSource, head: Head): Promise<void> {
  exchange.reader = { cancel: () => source.close() };
  try {
    await copySource(exchange, source, head);
  } catch {
    releaseReader(exchange);
    failResponse(exchange, head);
  }
}

async function copySource(exchange: Exchange, source: ByteSource, { status, fields, length }: Head): Promise<void> {
  const { res, state } = exchange;
  const sizer = createBufferSizer(length, state.scheme === "https" ? ENCRYPTED_SIZES : PLAIN_SIZES);
  for (let sent = 0; ; ) {
    const buffer = acquireBuffer(sizer.size());
    const { count, isLast } = await readPart(source, buffer, sent, length);
    const isFirst = sent === 0;
    sent += count;
    if (isLast) exchange.reader = undefined;
    if (exchange.isDisconnected) return giveBack(buffer);
    if (!res.headersSent) writeHead(res, status, fields);
    const startedAt = performance.now();
    const bytes = buffer.subarray(0, count);
    // Whether the client is slow is not known yet.
    const rest = isFirst && count > SLICE_BYTES ? await writeSlices(exchange, bytes) : bytes;
    if (isLast && !exchange.isDisconnected) return endWith(exchange, buffer, rest);
    if (!exchange.isDisconnected) await write(exchange, rest);
    // After a broken connection the system may still read the buffer.
    if (exchange.isDisconnected) return dropBuffer(buffer);
    sizer.passed(performance.now() - startedAt, count);
    giveBack(buffer);
  }
}

/**
 * Reads the next part of a source; `isLast` if no other follows: a part that completes the length is, if the source
 * then ends. Gives the buffer back if the source fails.
 * @throws RangeError for more or fewer bytes than promised.
 */
async function readPart(
  source: ByteSource,
  buffer: Uint8Array,
  sent: number,
  length: number | undefined,
): Promise<{ readonly count: number; readonly isLast: boolean }> {
  try {
    const count = await source.readInto(buffer);
    const total = sent + count;
    const isFull = total >= (length ?? Number.POSITIVE_INFINITY);
    const isLast = count === 0 || (isFull && (await source.readInto(probe)) === 0);
    if (isLast ? total !== (length ?? total) : isFull)
      throw new RangeError("The body does not have Content-Length bytes");
    return { count, isLast };
  } catch (error) {
    giveBack(buffer);
    throw error;
  }
}

/** Writes what is more than one slice, and returns the rest: bytes of a slow client count by complete writes. */
async function writeSlices(exchange: Exchange, bytes: Uint8Array): Promise<Uint8Array> {
  let rest = bytes;
  while (rest.byteLength > SLICE_BYTES && !exchange.isDisconnected) {
    await write(exchange, rest.subarray(0, SLICE_BYTES));
    rest = rest.subarray(SLICE_BYTES);
  }
  return rest;
}

/** Ends a response with the last bytes of a buffer, and gives the buffer back when the system has taken them. */
function endWith(exchange: Exchange, buffer: Uint8Array, rest: Uint8Array): void {
  const { res } = exchange;
  exchange.sentBytes += rest.byteLength;
  let release = dropBuffer;
  res.on("close", () => release(buffer));
  res.end(rest, () => {
    release = () => undefined;
    giveBack(buffer);
  });
}

/** For a client that reads slowly, and for a source that has few bytes at a time. A record of TLS is as large. */
const PLAIN_SIZES = { least: 16_384 };
/** TLS encrypts a complete write, and holds it in addition to the buffer until the client has read it. */
const ENCRYPTED_SIZES = { ...PLAIN_SIZES, most: 65_536 };
/** See `enforceMinThroughput`. */
const SLICE_BYTES = 131_072;
/** The buffer for the read that checks that a source has ended. */
const probe = new Uint8Array(1);

/** Writes bytes. Resolves when the socket has taken them, or is closed. */
function write(exchange: Exchange, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    exchange.wake = resolve;
    exchange.sentBytes += bytes.byteLength;
    exchange.res.write(bytes, () => resolve());
  });
}
