import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createBodyReadError } from "../../http/body-already-read.ts";

/** The body of one request: a Readable for the ponyfill's `Request`, and its state for the bridge. */
export interface RequestBody {
  /** Reads from the socket only while it is read itself. Destroying it does not destroy the socket. */
  readonly stream: Readable;
  /** Whether the client waits for `100 Continue` (`Expect: 100-continue`) and has not got it. */
  isContinueWithheld(): boolean;
  /** Whether the reader waits for bytes that the client has not sent. */
  isWaiting(): boolean;
  /** The number of bytes that have arrived. */
  received(): number;
  /** Stops reading: a reader gets an error, and the rest stays on the socket. */
  stop(): void;
}

/** Chunks below this size are joined: each costs microseconds, and a client may send thousands in one packet. */
const SMALL_BYTES = 4096;
/** The number of small chunks that wait at most. */
const MOST_SMALL = 1000;

let onChunkReceived: ((byteLength: number) => void) | undefined;

/**
 * Sets a listener to the chunks of all request bodies, called with the size of each. Each chunk is memory outside of
 * the heap until it is collected (docs/decisions/0031-heap.md).
 */
export function watchReceivedChunks(listener: (byteLength: number) => void): void {
  onChunkReceived = listener;
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Creates the body of a request. It reads nothing, and writes no `100 Continue`, before its first read. */
export function createRequestBody(req: IncomingMessage, res: ServerResponse): RequestBody {
  let hasStarted = false;
  let received = 0;
  let withheld = isContinueExpected(req, res);
  /** Consecutive small chunks of one packet. */
  let small: Buffer[] = [];

  const stream = new Readable({
    // Chunks pass one by one as they arrive: joining them would be a copy.
    objectMode: true,
    highWaterMark: 1,
    read(): void {
      if (hasStarted) req.resume();
      else start();
    },
    destroy(error, callback): void {
      req.off("data", onData).off("end", onEnd).off("close", onClose);
      // A body that has arrived completely is discarded; otherwise the rest stays unread on the socket.
      if (hasStarted && req.complete) req.resume();
      else if (hasStarted) req.pause();
      callback(error);
    },
  });
  // A reader sees the error; without a reader it must not end the process.
  stream.on("error", () => undefined);

  function start(): void {
    hasStarted = true;
    // Another reader took a part of the body, which without a length would look like a short body, or decoded it: then
    // these are no longer bytes.
    if (req.readableEnded || req.readableDidRead || req.readableEncoding !== null) {
      stream.destroy(createBodyReadError());
      return;
    }
    if (req.destroyed) {
      stream.destroy(createDisconnectError());
      return;
    }
    if (withheld && !res.headersSent) res.writeContinue();
    withheld = false;
    req.on("end", onEnd).on("close", onClose).on("data", onData);
  }
  function onData(chunk: Buffer): void {
    onChunkReceived?.(chunk.byteLength);
    received += chunk.byteLength;
    if (chunk.byteLength < SMALL_BYTES) {
      // The parser passes everything of one packet before the next phase of the event loop, so this delays nothing.
      const count = small.push(chunk);
      if (count === 1) setImmediate(flush);
      if (count === MOST_SMALL) flush();
      return;
    }
    flush();
    if (!stream.push(chunk)) req.pause();
  }
  function flush(): void {
    if (small.length === 0 || stream.destroyed) return;
    const joined = small.length === 1 ? small[0] : Buffer.concat(small);
    small = [];
    if (!stream.push(joined)) req.pause();
  }
  function onEnd(): void {
    flush();
    if (req.complete) stream.push(null);
    else stream.destroy(createDisconnectError());
  }
  function onClose(): void {
    if (!req.readableEnded) stream.destroy(createDisconnectError());
  }

  return {
    stream,
    isContinueWithheld: () => withheld,
    isWaiting: () => hasStarted && !req.complete && !req.isPaused() && !stream.destroyed,
    received: () => received,
    stop(): void {
      if (hasStarted) {
        stream.destroy(new Error("The response was sent before the request's body was read"));
        return;
      }
      // After a response node:http reads and discards a request body that was never read. One read prevents that.
      req.pause();
      req.read();
    },
  };
}

/** Creates the error for the body and the signal of a request whose client has disconnected. */
export function createDisconnectError(): Error {
  return Object.assign(new Error("The client closed the connection early"), { name: "AbortError", code: "ECONNRESET" });
}

/**
 * Whether the client waits for `100 Continue`. HTTP/1.0 has none; without a `checkContinue` listener Node has sent it.
 */
function isContinueExpected(req: IncomingMessage, res: ServerResponse): boolean {
  const { expect } = req.headers;
  if (expect === undefined || req.httpVersionMinor === 0) return false;
  return /(?:^|\W)100-continue(?:$|\W)/i.test(expect) && !("_sent100" in res && res._sent100 === true);
}
