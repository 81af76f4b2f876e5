import { createConnection, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from "node:net";
import { setImmediate } from "node:timers/promises";

/** Where clamd listens. */
export type ClamdAddress = Pick<TcpNetConnectOpts, "host" | "port"> | Pick<IpcNetConnectOpts, "path">;

/** What clamd says about a file: nothing was found, a virus, or that it is larger than its `StreamMaxLength`. */
export type ScanAnswer = "clean" | "too-large" | { readonly virus: string };

/** The scan of one file over a connection of its own. */
export interface ClamdScan {
  /**
   * Sends a chunk, whose memory may be used again when the promise is fulfilled. Resolves with the answer if clamd has
   * answered already. Rejects if clamd fails, or does not read in time.
   */
  send(chunk: Uint8Array): Promise<ScanAnswer | undefined>;
  /** Ends the file. Resolves with the answer. Rejects if clamd fails, answers nonsense, or does not answer in time. */
  finish(): Promise<ScanAnswer>;
  /** Closes the connection. */
  cancel(): void;
}

/** The command; its answer ends with a NUL byte as well. */
const COMMAND = "zINSTREAM\0";
const LENGTH_BYTES = 4;
const PART_BYTES = 65_536;
/** The longest answer: names of viruses have some dozen characters. */
const MAX_ANSWER_BYTES = 4096;

/** Begins a scan. It connects at once; each step has `timeoutMs`. */
export function beginScan(address: ClamdAddress, timeoutMs: number): ClamdScan {
  const socket = createConnection(address);
  const answer = readAnswer(socket);
  /** Rejects when clamd fails. Every step waits for it too, so that none hangs. */
  const failed = new Promise<never>((_, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("clamd closed the connection.")));
  });
  failed.catch(() => undefined);

  async function step<T>(work: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`clamd took longer than ${timeoutMs / 1000} s.`)), timeoutMs);
    });
    try {
      return await Promise.race([work, failed, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes a part of the file with its length in front. */
  function write(chunk: Uint8Array): Promise<void> {
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, chunk.byteLength);
    return new Promise((resolve, reject) => {
      socket.cork();
      socket.write(length);
      socket.write(chunk, (error) => (error ? reject(error) : resolve()));
      socket.uncork();
    });
  }

  /** The answer that came before the end of the file. That the file is clean cannot be known yet. */
  function toEarlyAnswer(): ScanAnswer | undefined {
    const text = answer.text();
    if (text === undefined) return undefined;
    const parsed = parseAnswer(text);
    if (parsed === "clean") throw new Error("clamd answered before the end of the file.");
    return parsed;
  }

  /** Runs a step. What fails because clamd has answered and closed the connection is no failure. */
  async function orAnswer(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (toEarlyAnswer() === undefined) throw error;
    }
  }

  socket.write(COMMAND);

  return {
    async send(chunk) {
      for (let at = 0; at < chunk.byteLength; at += PART_BYTES) {
        const early = toEarlyAnswer();
        if (early !== undefined) return early;
        await orAnswer(() => step(write(chunk.subarray(at, at + PART_BYTES))));
        // An answer before the end has to be read before the next part is written: clamd closes the connection after
        // it, and then nothing can be read any more.
        await setImmediate();
      }
      return toEarlyAnswer();
    },
    async finish() {
      const early = toEarlyAnswer();
      if (early !== undefined) return early;
      // A part without bytes is the end. What fails here is found by reading.
      socket.write(new Uint8Array(LENGTH_BYTES));
      return parseAnswer(await step(answer.complete));
    },
    cancel: () => void socket.destroy(),
  };
}

/** Collects what clamd says, up to a NUL byte. */
function readAnswer(socket: Socket) {
  let received = Buffer.alloc(0);
  let resolveComplete: (text: string) => void = () => undefined;
  const complete = new Promise<string>((resolve) => {
    resolveComplete = resolve;
  });

  function text(): string | undefined {
    const end = received.indexOf(0);
    if (end >= 0) return received.toString("latin1");
    return received.byteLength > MAX_ANSWER_BYTES ? "" : undefined;
  }

  socket.on("data", (data: Buffer) => {
    if (received.byteLength <= MAX_ANSWER_BYTES) received = Buffer.concat([received, data]);
    const found = text();
    if (found !== undefined) resolveComplete(found);
  });

  return { complete, text };
}

/** Parses an answer with its NUL byte. @throws Error for anything that clamd does not say about a file. */
function parseAnswer(text: string): ScanAnswer {
  if (text === "stream: OK\0") return "clean";
  if (text === "INSTREAM size limit exceeded. ERROR\0") return "too-large";
  const [, virus] = /^stream: ([^\0]+) FOUND\0$/.exec(text) ?? [];
  if (virus !== undefined) return { virus };
  // Its text is for the log.
  throw new Error(`clamd answered ${JSON.stringify(text.slice(0, 200))}.`);
}
