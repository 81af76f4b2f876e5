import { once } from "node:events";
import { PassThrough } from "node:stream";
import {
  type AccountFiles,
  HttpError,
  isStorageError,
  type StorageEntry,
  StorageError,
  type WriteOptions,
} from "fileferry";
import type { Allowance } from "./sftp-flow.ts";

/** What a client has open. */
export type Handle = Download | Upload | Listing;

/** A file that is read. */
export interface Download {
  readonly kind: "download";
  readonly entry: StorageEntry;
  /** The bytes from `offset` on: `length` of them, or fewer at the end of the file; `undefined` beyond it. */
  read(offset: number, length: number): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/** A file that is written. */
export interface Upload {
  readonly kind: "upload";
  /** Bytes so far. */
  size(): number;
  /** Takes the next bytes, once there is room for them. */
  write(offset: number, bytes: Buffer): Promise<void>;
  /** Gives the file the size that it has now, however long the former one is. */
  endHere(): void;
  /** Gives the file another time than now, once it is there. */
  setTime(time: Date): void;
  /** Ends the file: now it is there, whole, or the promise rejects and what was there before still is. */
  commit(): Promise<void>;
  /** Drops the file unless it is committed. */
  close(): Promise<void>;
}

/** A folder whose members are listed. */
export interface Listing {
  readonly kind: "listing";
  /** The next members; none at the end. */
  next(): Promise<readonly StorageEntry[]>;
  close(): Promise<void>;
}

/** The most that goes into one answer: clients take packets of 256 KiB. */
const MAX_READ_BYTES = 255 * 1024;
/** Two names of 255 bytes for each member stay well below that. */
const MAX_MEMBERS = 128;
/** What is waiting for the storage before the client has to. */
const MAX_UNSTORED_BYTES = 256 * 1024;

/**
 * Opens a file for reading. All reads see the version of the file that was there when it was opened: one stream as long
 * as they follow each other; where a client jumps, no more than it asks for.
 */
export async function openDownload(files: AccountFiles, segments: readonly string[]): Promise<Download> {
  const { entry, body } = await files.read(segments);
  let reader = body.getReader();
  let position = 0;
  let end = entry.size;
  let rest: Uint8Array | undefined;

  async function seek(offset: number, length: number): Promise<void> {
    await reader.cancel().catch(ignore);
    rest = undefined;
    position = Number.NaN; // nowhere, unless what follows succeeds
    const part = await files.read(segments, { offset, length });
    reader = part.body.getReader();
    if (!isSameVersion(part.entry, entry)) throw new HttpError("precondition-failed", "The file has changed.");
    position = offset;
    end = offset + length;
  }

  async function read(offset: number, length: number): Promise<Buffer | undefined> {
    if (offset >= entry.size) return undefined;
    let missing = Math.min(length, MAX_READ_BYTES, entry.size - offset);
    const isNext = offset === position;
    if (!isNext || missing > end - position) await seek(offset, isNext ? entry.size - offset : missing);
    const parts: Uint8Array[] = [];
    while (missing > 0) {
      const chunk = rest ?? (await reader.read()).value;
      if (chunk === undefined) throw new StorageError("unavailable", "The file is shorter than its size.");
      const part = chunk.subarray(0, missing);
      rest = part.length < chunk.length ? chunk.subarray(part.length) : undefined;
      parts.push(part);
      missing -= part.length;
      position += part.length;
    }
    return Buffer.concat(parts);
  }

  return { kind: "download", entry, read, close: () => reader.cancel().catch(ignore) };
}

function isSameVersion(one: StorageEntry, other: StorageEntry): boolean {
  const isSameTag = one.etag === other.etag && one.size === other.size;
  return isSameTag && one.modified.getTime() === other.modified.getTime();
}

/**
 * Begins a file, once the storage is ready to take it: whoever may not write here learns it before anything is sent.
 *
 * A storage takes a file from its beginning to its end, all or nothing. So bytes in any other order are refused, and
 * the upload is dropped: clients that resume or patch a file send them. Those that send a file do it in order, but for
 * some that run a little ahead with several requests at once (`fastPut` of ssh2): these wait for what is missing.
 *
 * Bytes that wait are taken from `allowance`, which all uploads of a connection share. `leastSize` is the size that the
 * file must reach unless the client sets its size: that of the previous file, if the client did not truncate it when it
 * was opened.
 */
export async function openUpload(
  files: AccountFiles,
  segments: readonly string[],
  options: WriteOptions,
  leastSize: number,
  allowance: Allowance,
): Promise<Upload> {
  const cut = new AbortController();
  const pipe = new PassThrough({ highWaterMark: MAX_UNSTORED_BYTES });
  pipe.on("error", ignore);
  let begin = ignore;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });

  async function* content(): AsyncGenerator<Uint8Array> {
    begin();
    yield* pipe;
  }

  const written = files.write(segments, content(), { ...options, signal: cut.signal });
  written.catch(ignore);
  await Promise.race([begun, written]);
  let size = 0;
  let modified: Date | undefined;
  let isEnded = false;
  let isDropped = false;
  /** Bytes that wait for those before them, by their offset. */
  const ahead = new Map<number, Buffer>();

  async function write(offset: number, bytes: Buffer): Promise<void> {
    if (isDropped) throw new StorageError("incomplete");
    if (bytes.length === 0) return;
    if (offset < size || ahead.has(offset) || (offset > size && !allowance.take(bytes.length))) {
      await close();
      throw new HttpError("method-not-implemented", "Files are written whole, from their beginning to their end.");
    }
    ahead.set(offset, bytes);
    for (let next = ahead.get(size); next !== undefined; next = ahead.get(size)) {
      ahead.delete(size);
      if (size !== offset) allowance.give(next.length);
      size += next.length;
      // A write that has failed says so here: it takes no more.
      if (!pipe.write(next)) await Promise.race([once(pipe, "drain"), written]);
    }
  }

  function endHere(): void {
    isEnded = true;
  }

  function setTime(time: Date): void {
    modified = time;
  }

  async function commit(): Promise<void> {
    const isWhole = ahead.size === 0 && (isEnded || size >= leastSize);
    if (isDropped || !isWhole) throw new StorageError("incomplete");
    pipe.end();
    await written;
    if (modified !== undefined) await setTimeIfPossible(files, segments, modified);
  }

  async function close(): Promise<void> {
    isDropped = true;
    for (const { length } of ahead.values()) allowance.give(length);
    ahead.clear();
    cut.abort(new StorageError("incomplete", "The upload was not brought to its end."));
    pipe.destroy();
    await written.catch(ignore);
  }

  return { kind: "upload", size: () => size, write, endHere, setTime, commit, close };
}

/** Opens a folder. What is wrong with it shows here: the first member is fetched. */
export async function openListing(files: AccountFiles, segments: readonly string[]): Promise<Listing> {
  const members = files.list(segments)[Symbol.asyncIterator]();
  let step = await members.next();

  async function next(): Promise<readonly StorageEntry[]> {
    const entries: StorageEntry[] = [];
    while (!step.done && entries.length < MAX_MEMBERS) {
      entries.push(step.value);
      step = await members.next();
    }
    return entries;
  }

  async function close(): Promise<void> {
    await members.return?.().then(ignore, ignore);
  }

  return { kind: "listing", next, close };
}

function ignore(): void {}

/**
 * Sets the time of a file. Asking for it is no error if the storage keeps no times, or if the account may not set them:
 * else `put -p` and `scp -p` would fail.
 */
export async function setTimeIfPossible(
  files: AccountFiles,
  segments: readonly string[],
  modified: Date,
): Promise<void> {
  if (!(await files.may(segments, "set-attributes"))) return;
  try {
    await files.setAttributes(segments, { modified });
  } catch (error) {
    if (!isStorageError(error) || error.code !== "unsupported") throw error;
  }
}
