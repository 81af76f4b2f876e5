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
  /** Reads `length` bytes from `offset` on, fewer at the end of the file; `undefined` after it. */
  read(offset: number, length: number): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/** A file that is written. */
export interface Upload {
  readonly kind: "upload";
  /** Number of bytes received in order. */
  size(): number;
  /** Takes bytes. Resolves when the storage is ready for more. */
  write(offset: number, bytes: Buffer): Promise<void>;
  /** Sets the size of the file to the bytes so far, even if the previous file is longer. */
  endHere(): void;
  /** Sets the time that the file gets when it is stored. */
  setTime(time: Date): void;
  /** Ends the file. Resolves when it is stored completely; if it rejects, the previous file stays. */
  commit(): Promise<void>;
  /** Discards the file unless it is committed. */
  close(): Promise<void>;
}

/** A folder whose members are listed. */
export interface Listing {
  readonly kind: "listing";
  /** The next members; none at the end. */
  next(): Promise<readonly StorageEntry[]>;
  close(): Promise<void>;
}

/** Maximum size of one response: clients accept packets of 256 KiB. */
const MAX_READ_BYTES = 255 * 1024;
/** Members in one response: with two names of 255 bytes each they stay well below a packet. */
const MAX_MEMBERS = 128;
/** The bytes that may wait for the storage before the client has to wait. */
const MAX_UNSTORED_BYTES = 256 * 1024;

/**
 * Opens a file for reading. All reads see the version that was opened. Consecutive reads use one stream; after a jump
 * only the requested bytes are read.
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
    position = Number.NaN; // unknown, if the next steps fail
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
 * Starts a file. Resolves when the storage is ready for its bytes, so that a refusal comes before they are sent.
 *
 * A storage takes a file from its start to its end, all or nothing. Clients that send a file do so in order, except for
 * some that send several requests in parallel (`fastPut` of ssh2): early bytes wait for those before them. Bytes in any
 * other order, as from clients that resume or patch a file, are refused, and the upload is discarded.
 *
 * Early bytes are taken from `allowance`, which all uploads of a connection share. `leastSize` is the size that the
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
  let setReady = ignore;
  const ready = new Promise<void>((resolve) => {
    setReady = resolve;
  });

  async function* content(): AsyncGenerator<Uint8Array> {
    setReady();
    yield* pipe;
  }

  const written = files.write(segments, content(), { ...options, signal: cut.signal });
  written.catch(ignore);
  await Promise.race([ready, written]);
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
      throw new HttpError("method-not-implemented", "Files are written completely, from their start to their end.");
    }
    ahead.set(offset, bytes);
    for (let next = ahead.get(size); next !== undefined; next = ahead.get(size)) {
      ahead.delete(size);
      if (size !== offset) allowance.give(next.length);
      size += next.length;
      // If the write has failed, `written` rejects here.
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
    const isComplete = ahead.size === 0 && (isEnded || size >= leastSize);
    if (isDropped || !isComplete) throw new StorageError("incomplete");
    pipe.end();
    await written;
    if (modified !== undefined) await setTimeIfPossible(files, segments, modified);
  }

  async function close(): Promise<void> {
    isDropped = true;
    for (const { length } of ahead.values()) allowance.give(length);
    ahead.clear();
    cut.abort(new StorageError("incomplete", "The upload was not completed."));
    pipe.destroy();
    await written.catch(ignore);
  }

  return { kind: "upload", size: () => size, write, endHere, setTime, commit, close };
}

/** Opens a folder, and fetches its first member, so that an error shows here. */
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
 * Sets the time of a file. Does nothing if the storage keeps no times, or if the account may not set them: otherwise
 * `put -p` and `scp -p` would fail.
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
