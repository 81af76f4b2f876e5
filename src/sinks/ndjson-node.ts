import { appendFile, open, rename, rm, stat, truncate } from "node:fs/promises";
import { resolve } from "node:path";
import type { FileEvent } from "../contracts/events/file-event.ts";
import type { Logger } from "../contracts/logger.ts";
import { checkOption } from "../contracts/option-error.ts";
import { toSafeLogger } from "../events/safe-logger.ts";
import { createSinkQueue, type EventSink, type QueuedEvent } from "./event-sink.ts";

/** The file that events are written to. */
export interface NdjsonSinkOptions {
  /** Path of the file, which is made where it is missing, for its owner's eyes alone. Its folder must be there. */
  readonly file: string;
  /** A file that has reached so many bytes becomes `<file>.1`, which becomes `<file>.2`, and so on; 0: it never does. Default: 100 MiB. */
  readonly maxBytes?: number;
  /** So many of those are kept; 0: it begins anew. Default: 5. */
  readonly maxFiles?: number;
  /** So many events wait for the disk at most; more are dropped. Default: 10,000. */
  readonly capacity?: number;
  /** Is told of failures. Default: the console. */
  readonly logger?: Logger;
}

/** So many lines are written at a time. */
const BATCH = 500;

/**
 * Appends events to a file, one as JSON on each line (CONTRACT 8). The file is opened anew for what has gathered, so others may move it away. Lines that cannot be written are
 * dropped, and the log is told at the first failure in a row.
 * @throws TypeError naming the option that is wrong.
 */
export function createNdjsonSink(options: NdjsonSinkOptions): EventSink {
  const { maxBytes = 104_857_600, maxFiles = 5, capacity = 10_000, logger = console } = options;
  checkOption(typeof options.file === "string" && options.file !== "", "file", "the path of a file");
  checkOption(Number.isSafeInteger(maxBytes) && maxBytes >= 0, "maxBytes", "a whole number of bytes, or 0");
  checkOption(Number.isSafeInteger(maxFiles) && maxFiles >= 0, "maxFiles", "a whole number, or 0");
  checkOption(Number.isSafeInteger(capacity) && capacity > 0, "capacity", "a whole number");
  const file = resolve(options.file);
  const safe = toSafeLogger(logger);
  let isClosed = false;
  let isFailing = false;
  let lost = 0;

  /** The file's size behind what we wrote last; another one is somebody else's doing. */
  let known = 0;

  async function append(text: string): Promise<void> {
    let size = await sizeOf(file);
    if (maxBytes > 0 && size >= maxBytes) {
      await rotate(file, maxFiles);
      size = 0;
    }
    const isWhole = size === 0 || size === known || (await endsLine(file, size));
    known = await appendWhole(file, size, isWhole ? text : `\n${text}`);
  }

  async function deliver(events: readonly QueuedEvent[]): Promise<void> {
    try {
      await append(events.map(({ json }) => `${json}\n`).join(""));
      if (isFailing) safe.info({}, "Events are written to the file again.");
      isFailing = false;
    } catch (error) {
      lost += events.length;
      if (!isFailing) safe.error({ error, events: events.length }, "Events could not be written to the file.");
      isFailing = true;
    }
  }

  const queue = createSinkQueue({
    capacity,
    batch: BATCH,
    deliver,
    onFull: () => safe.warn({ capacity }, "Events are dropped because too many earlier events wait to be written."),
  });

  function take(event: FileEvent): void {
    if (isClosed) return;
    try {
      if (!queue.add(event)) lost += 1;
    } catch (error) {
      lost += 1;
      safe.error({ error }, "An event could not be accepted.");
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await queue.drain();
  }

  return Object.assign(take, { dropped: () => lost, close });
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    // Who opens a pipe waits for its reader.
    if (!found.isFile()) throw new Error("not a regular file");
    return found.size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** Whether the next line may begin: a process that was killed may have left half of one. */
async function endsLine(file: string, size: number): Promise<boolean> {
  const handle = await open(file, "r");
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

/** All of it or nothing: a full disk leaves no half line that the next one would go on. The size that the file has then. */
async function appendWhole(file: string, size: number, text: string): Promise<number> {
  const bytes = Buffer.from(text);
  try {
    await appendFile(file, bytes, { mode: 0o600 });
    return size + bytes.byteLength;
  } catch (error) {
    await truncate(file, size).catch(() => undefined);
    throw error;
  }
}

/** The oldest one is replaced by the next. */
async function rotate(file: string, maxFiles: number): Promise<void> {
  for (let number = maxFiles; number >= 1; number -= 1) {
    const from = number === 1 ? file : `${file}.${number - 1}`;
    await rename(from, `${file}.${number}`).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }
  if (maxFiles === 0) await rm(file, { force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
