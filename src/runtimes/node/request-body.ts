import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createBodyReadError } from "../../http/body-already-read.ts";
import type { DirectBody } from "../../http/request-body.ts";

/** The body of one request: its chunks for the service, and its state for the bridge. */
export interface RequestBody {
  /**
   * The chunks as they arrive, for one reader. Reads from the socket only while it is read itself. A reader that stops
   * does not close the socket.
   */
  readonly chunks: DirectBody;
  /** The body of the ponyfill's `Request`, which hosts may read. It takes the chunks when it is first read. */
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
const JOINED_BYTES = 4096;
/** The number of small chunks that wait at most. */
const MAX_JOINED = 1000;

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

/**
 * Creates the body of a request. It reads nothing, and writes no `100 Continue`, before its first read. `isParsed`: a
 * node:http server has parsed the request; a host may also simulate one.
 */
export function createRequestBody(req: IncomingMessage, res: ServerResponse, isParsed: boolean): RequestBody {
  let isTaken = false;
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
    else {
      // Also if the body is here already: node:http closes the connection after a response without it.
      if (withheld && !res.headersSent) res.writeContinue();
      withheld = false;
      if (isParsed && req.complete && req.readableLength > 0) takeAll();
      else req.on("end", onEnd).on("close", onClose).on("data", onData);
    }
  }
  /** The body arrived with its head: its chunks need no events. */
  function takeAll(): void {
    for (let chunk = req.read(); chunk !== null; chunk = req.read()) {
      count(chunk);
      arrived.push(chunk);
    }
    finish("end");
  }
  function count(chunk: Buffer): void {
    onChunkReceived?.(chunk.byteLength);
    received += chunk.byteLength;
  }
  function onData(chunk: Buffer): void {
    count(chunk);
    if (chunk.byteLength < JOINED_BYTES) {
      // The parser passes everything of one packet before the next phase of the event loop, so this delays nothing.
      const smallChunks = small.push(chunk);
      if (smallChunks === 1) setImmediate(flush);
      if (smallChunks === MAX_JOINED) flush();
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
    // A reader that still waits must not take this for the end of the body.
    waiting?.reject(new Error("The reader of the request's body has stopped"));
    waiting = undefined;
    if (hasStarted) finish("end");
    return { done: true, value: undefined };
  }

  const chunks: DirectBody = {
    isTaken: () => isTaken,
    [Symbol.asyncIterator]() {
      if (isTaken) throw createBodyReadError();
      isTaken = true;
      return { next, return: close };
    },
  };

  return {
    chunks,
    stream: new BodyStream(chunks),
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

/** A class, because most streams are never read: its functions are made once. */
class BodyStream extends Readable {
  readonly #chunks: DirectBody;
  #iterator: AsyncIterator<Uint8Array> | undefined;

  constructor(chunks: DirectBody) {
    // Chunks pass one by one as they arrive: joining them would be a copy.
    super({ objectMode: true, highWaterMark: 1 });
    this.#chunks = chunks;
    // A reader sees the error; without a reader it must not end the process.
    this.on("error", () => undefined);
  }

  override _read(): void {
    this.#pass().catch((error: Error) => this.destroy(error));
  }

  async #pass(): Promise<void> {
    this.#iterator ??= this.#chunks[Symbol.asyncIterator]();
    const { done, value } = await this.#iterator.next();
    this.push(done === true ? null : value);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#iterator?.return?.().catch(() => undefined);
    callback(error);
  }
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
