import type { ByteSource } from "../contracts/byte-source.ts";
import { createBufferPace, giveBack, takeBuffer } from "../transfer/buffers.ts";
import { type Exchange, releaseReader } from "./node-exchange.ts";
import { failResponse, type Head } from "./node-response-stream.ts";

/**
 * Sends a body that is read from a source through one buffer, which is read into when the socket has taken what it held. Fails as
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
  const { res } = exchange;
  const most = length ?? Number.POSITIVE_INFINITY;
  const pace = createBufferPace(length);
  for (let sent = 0; ; ) {
    const buffer = takeBuffer(pace.size());
    const count = await source.readInto(buffer);
    if (exchange.gone) return giveBack(buffer);
    sent += count;
    // What completes the length is kept back until the source has ended well.
    const isLast = count === 0 || (sent >= most && (await source.readInto(probe)) === 0);
    if (isLast) exchange.reader = undefined;
    if (isLast ? sent !== (length ?? sent) : sent >= most) throw new RangeError("Not as many bytes as promised");
    if (exchange.gone) return giveBack(buffer);
    if (!res.headersSent) res.writeHead(status, fields);
    const part = buffer.subarray(0, count);
    if (isLast) {
      res.end(part, () => giveBack(buffer));
      return;
    }
    const begun = performance.now();
    await written(exchange, part);
    // Of a connection that broke nobody knows whether the system still reads the buffer.
    if (exchange.gone) return;
    pace.passed(performance.now() - begun);
    giveBack(buffer);
  }
}

/** Where a source puts nothing when it has ended. */
const probe = new Uint8Array(1);

/** Resolves when the socket has taken the bytes, or is gone. */
function written(exchange: Exchange, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    exchange.wake = resolve;
    exchange.res.write(bytes, () => resolve());
  });
}
