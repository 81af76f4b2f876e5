import { appendFile, open, rename, rm, stat, truncate } from "node:fs/promises";
import { resolve } from "node:path";
import type { FileEvent } from "../contracts/events/file-event.ts";
import type { Logger } from "../contracts/logger.ts";
import { checkOption } from "../contracts/option-error.ts";
import { toSafeLogger } from "../events/safe-logger.ts";
import { createSinkQueue, type EventSink, type QueuedEvent } from "./event-sink.ts";

/** Options of {@link createNdjsonSink}. */
export interface NdjsonSinkOptions {
  /** The path of the file. A missing file is created, readable only by its owner; its folder must exist. */
  readonly file: string;
  /**
   * The size at which the file is renamed to `<file>.1`, an existing `<file>.1` to `<file>.2`, and so on. Bytes, 0 for
   * never. Default: 100 MiB.
   */
  readonly maxBytes?: number;
  /** The number of renamed files to keep; 0 deletes a file that is full. Default: 5. */
  readonly maxFiles?: number;
  /** The number of events that wait for the disk at most; more are dropped. Default: 10,000. */
  readonly capacity?: number;
  /** Gets failures. Default: the console. */
  readonly logger?: Logger;
}

/** The number of lines that are written together at most. */
const BATCH = 500;

/**
 * Appends events to a file, each as JSON on a line of its own (CONTRACT 8). The sink opens the file for each batch, so
 * other programs may move it away. Lines that cannot be written are dropped; the log gets the first failure in a row.
 * @throws OptionError
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

  /** The file's size after our last write. If the size differs, another program has written. */
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
      const dropped = queue.add(event);
      lost += dropped;
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
    // Opening a named pipe would wait for its reader.
    if (!found.isFile()) throw new Error("not a regular file");
    return found.size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** Whether the file ends with a complete line: a killed process may have left part of one. */
async function endsLine(file: string, size: number): Promise<boolean> {
  const handle = await open(file, "r");
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

/**
 * Appends all of a text or nothing, so that a full disk leaves no partial line; resolves with the new size of the file.
 */
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

/** Renames the file and its predecessors; the oldest one is overwritten. */
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
