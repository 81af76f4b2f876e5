import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createConsumedBodyError } from "../../http/body-already-read.ts";

/** The body of one request: a Readable for the light `Request`, and what the bridge must know of it. */
export interface RequestBody {
  /** Reads from the socket only while it is read itself; destroying it leaves the socket alone. */
  readonly stream: Readable;
  /** Whether the client was told to keep its body until we ask (`Expect: 100-continue`) and we have not asked. */
  isContinueWithheld(): boolean;
  /** Whether the reader is waiting for bytes that the client has not sent. */
  isWaiting(): boolean;
  /** How many bytes of it have come. */
  received(): number;
  /** Ends the reading for good: whoever still reads gets an error, and the rest stays on the socket. */
  stop(): void;
}

/** Chunks below this size are joined: each one costs all who read it some microseconds, and a client may send thousands in one packet. */
const SMALL_BYTES = 4096;
/** So many of them wait at most. */
const MOST_SMALL = 1000;

let onChunkReceived: ((byteLength: number) => void) | undefined;

/**
 * Sets a listener to the chunks of all request bodies, called with the size of each. Each chunk is memory outside of the
 * heap until it is collected (docs/decisions/0031-heap.md).
 */
export function watchReceivedChunks(listener: (byteLength: number) => void): void {
  onChunkReceived = listener;
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** A body over `req` that is not begun, and `100 Continue` not written, before the first read. */
export function createRequestBody(req: IncomingMessage, res: ServerResponse): RequestBody {
  let hasStarted = false;
  let received = 0;
  let withheld = isContinueExpected(req, res);
  /** Small chunks in a row, as one packet held them. */
  let small: Buffer[] = [];

  const stream = new Readable({
    // Chunks pass one by one as they come from the socket: joining them would be a copy.
    objectMode: true,
    highWaterMark: 1,
    read(): void {
      if (hasStarted) req.resume();
      else begin();
    },
    destroy(error, callback): void {
      req.off("data", onData).off("end", onEnd).off("close", onClose);
      // What has arrived whole is let go; the rest stays unread on the socket.
      if (hasStarted && req.complete) req.resume();
      else if (hasStarted) req.pause();
      callback(error);
    },
  });
  // Whoever reads sees the error; that nobody reads must not end the process.
  stream.on("error", () => undefined);

  function begin(): void {
    hasStarted = true;
    // A part that is missing cannot be told from a short body where no length is announced, and what somebody has decoded is no bytes any more.
    if (req.readableEnded || req.readableDidRead || req.readableEncoding !== null) {
      stream.destroy(createConsumedBodyError());
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
      // The parser hands over all that one packet holds before the next phase of the event loop: nothing is waited for.
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
      // After its response node:http throws a body away that nobody has touched, to the last byte. One read touches it.
      req.pause();
      req.read();
    },
  };
}

/** The error that a cut request leaves in its body and its signal. */
export function createDisconnectError(): Error {
  return Object.assign(new Error("The client closed the connection early"), { name: "AbortError", code: "ECONNRESET" });
}

/** Node itself has written `100 Continue` where the server has no `checkContinue` listener; HTTP/1.0 knows none. */
function isContinueExpected(req: IncomingMessage, res: ServerResponse): boolean {
  const { expect } = req.headers;
  if (expect === undefined || req.httpVersionMinor === 0) return false;
  return /(?:^|\W)100-continue(?:$|\W)/i.test(expect) && !("_sent100" in res && res._sent100 === true);
}
