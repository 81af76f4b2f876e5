import type { IncomingMessage, ServerResponse } from "node:http";
import { createBodyReadError } from "../../http/body-already-read.ts";
import type { DirectBody } from "../../http/request-body.ts";

/** The body of one request: its chunks for the service, and its state for the bridge. */
export interface RequestBody {
  /**
   * The chunks as they arrive, for one reader. Reads from the socket only while it is read itself. A reader that stops
   * does not close the socket.
   */
  readonly chunks: DirectBody;
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
  /** What the reader has not taken yet. The request is paused while there is anything. */
  let arrived: Buffer[] = [];
  /** The reader, while it waits for a chunk. */
  let waiting: { resolve(step: Step): void; reject(error: Error): void } | undefined;
  /** What the reader gets after the chunks that have arrived: `"end"` or an error. Absent while more may arrive. */
  let outcome: "end" | Error | undefined;

  function start(): void {
    hasStarted = true;
    // Another reader took a part of the body, which without a length would look like a short body, or decoded it: then
    // these are no longer bytes.
    if (req.readableEnded || req.readableDidRead || req.readableEncoding !== null) finish(createBodyReadError());
    else if (req.destroyed) finish(createDisconnectError());
    else if (req.complete) takeAll();
    else {
      if (withheld && !res.headersSent) res.writeContinue();
      withheld = false;
      req.on("end", onEnd).on("close", onClose).on("data", onData);
    }
  }
  /** The body arrived with its head: its chunks need no events. */
  function takeAll(): void {
    const all = req.read() as Buffer | null;
    if (all !== null) {
      count(all);
      arrived.push(all);
    }
    finish("end");
  }
  function count(chunk: Buffer): void {
    onChunkReceived?.(chunk.byteLength);
    received += chunk.byteLength;
  }
  function onData(chunk: Buffer): void {
    count(chunk);
    if (chunk.byteLength < SMALL_BYTES) {
      // The parser passes everything of one packet before the next phase of the event loop, so this delays nothing.
      const smallChunks = small.push(chunk);
      if (smallChunks === 1) setImmediate(flush);
      if (smallChunks === MOST_SMALL) flush();
      return;
    }
    flush();
    pass(chunk);
  }
  function flush(): void {
    const [first] = small;
    if (first === undefined || outcome !== undefined) return;
    const joined = small.length === 1 ? first : Buffer.concat(small);
    small = [];
    pass(joined);
  }
  function pass(chunk: Buffer): void {
    if (waiting === undefined) {
      arrived.push(chunk);
      req.pause();
      return;
    }
    waiting.resolve({ done: false, value: chunk });
    waiting = undefined;
  }
  function onEnd(): void {
    flush();
    finish(req.complete ? "end" : createDisconnectError());
  }
  function onClose(): void {
    if (!req.readableEnded) finish(createDisconnectError());
  }
  function finish(result: "end" | Error): void {
    if (outcome !== undefined) return;
    outcome = result;
    req.off("data", onData).off("end", onEnd).off("close", onClose);
    // A body that has arrived completely is discarded; otherwise the rest stays unread on the socket.
    if (req.complete) req.resume();
    else req.pause();
    if (result === "end") waiting?.resolve({ done: true, value: undefined });
    else waiting?.reject(result);
    waiting = undefined;
  }
  async function next(): Promise<Step> {
    if (!hasStarted) start();
    const chunk = arrived.shift();
    if (chunk !== undefined) {
      if (arrived.length === 0 && outcome === undefined) req.resume();
      return { done: false, value: chunk };
    }
    if (outcome === "end") return { done: true, value: undefined };
    if (outcome !== undefined) throw outcome;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
  }
  async function close(): Promise<Step> {
    arrived = [];
    if (hasStarted) finish("end");
    return { done: true, value: undefined };
  }

  return {
    chunks: { isStarted: () => hasStarted, [Symbol.asyncIterator]: () => ({ next, return: close }) },
    isContinueWithheld: () => withheld,
    isWaiting: () => hasStarted && !req.complete && !req.isPaused() && outcome === undefined,
    received: () => received,
    stop(): void {
      if (hasStarted) {
        arrived = [];
        finish(new Error("The response was sent before the request's body was read"));
        return;
      }
      // After a response node:http reads and discards a request body that was never read. One read prevents that.
      req.pause();
      req.read();
    },
  };
}

type Step = IteratorResult<Uint8Array, undefined>;

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
