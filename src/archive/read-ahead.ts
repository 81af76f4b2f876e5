import { type ByteSource, sourceOfBytes } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent, readExactly } from "./content.ts";
import { crc32 } from "./crc32.ts";
import { canDeflate, createDeflated } from "./deflate.ts";
import { createStoredBlocks } from "./stored-blocks.ts";
import { type Encoding, type MemberHead, toEncoding, toMember, WHOLE_BYTES } from "./zip-member.ts";
import { type Member, toTimeLength } from "./zip-records.ts";

/** A member of an archive: a file, or a folder. */
export interface ZipEntry extends MemberHead {
  /** Opens a file; absent for folders. Resolves with `undefined` if the archive should omit the file after all. */
  readonly open?: () => Promise<OpenedFile | undefined>;
}

/** An opened file, with the time and size of the opened version. */
export interface OpenedFile {
  readonly modified: Date;
  readonly size: number;
  /** The content. The caller that opened the file must read a source to its end or close it. */
  readonly source: Uint8Array | ByteSource;
}

export interface ArchiveOptions {
  /**
   * Whether the response has announced the archive's length. If true, a member that differs from its entry or no longer
   * exists is a failure. If false, it is archived as it was opened, or omitted. Default: false.
   */
  readonly isLengthAnnounced?: boolean;
  /** Returns whether to compress the member with this name. Default: no member is compressed. */
  readonly compresses?: (name: string) => boolean;
}

/** A member ready to be written: a small one with its complete content, a large one with a source of its content. */
export interface Prepared {
  readonly member: Member;
  readonly content: { readonly bytes: Uint8Array; readonly crc: number } | EncodedContent;
}

/** Prepares the members of an archive in their order, some of them in advance. */
export interface ReadAhead {
  /**
   * Returns the next member; `undefined` after the last one. The `bytes` of the previous member must not be used any
   * more: their buffer is reused.
   */
  next(): Promise<Prepared | undefined>;
  /** Closes all open files and ends the entries. A file that is still being opened is closed when it is open. */
  close(): Promise<void>;
}

/**
 * How many members are opened in advance; small ones are also read. For small members opening takes most of the time,
 * so several are opened at a time.
 */
const MEMBERS_AHEAD = 8;
/** The smallest buffer for the content of a small member. Larger sizes are powers of two. */
const MIN_BUFFER_BYTES = 4096;
const EMPTY = new Uint8Array(0);

/** A prepared member, with the pooled buffer that its content was read into. */
interface Buffered extends Prepared {
  readonly buffer?: ArrayBuffer;
}

/** A member in preparation. */
interface QueuedMember {
  readonly prepared: Promise<Buffered | undefined>;
  /** Whether it keeps a file open, or a compressor, until it is written. */
  readonly isHeavy: boolean;
}

export function createReadAhead(entries: AsyncIterator<ZipEntry>, options: ArchiveOptions): ReadAhead {
  const { isLengthAnnounced = false, compresses = () => false } = options;
  const queue: QueuedMember[] = [];
  const opened = new Set<ByteSource>();
  const buffers: ArrayBuffer[] = [];
  let current: Buffered | undefined;
  let step: Promise<void> | undefined;
  let isAtEnd = false;
  let isClosed = false;

  async function next(): Promise<Prepared | undefined> {
    if (current !== undefined) release(current);
    current = undefined;
    while (current === undefined && (queue.length > 0 || !isAtEnd)) {
      if (queue.length === 0) await fillQueue();
      current = await queue.shift()?.prepared;
      if (!isAtEnd) void fillQueue();
    }
    return current;
  }

  function release({ content, buffer }: Buffered): void {
    if ("readInto" in content) opened.delete(content);
    if (buffer !== undefined) buffers.push(buffer);
  }

  /** Takes entries one after the other until the queue is full. Resolves when the next entry has been taken. */
  function fillQueue(): Promise<void> {
    step ??= takeEntry().then(() => {
      step = undefined;
      // One heavy member is enough. Otherwise an attacker that reads nothing could keep eight files open.
      const isFull = queue.length >= MEMBERS_AHEAD || queue.at(-1)?.isHeavy === true;
      if (!isFull && !isAtEnd) void fillQueue();
    });
    return step;
  }

  async function takeEntry(): Promise<void> {
    try {
      const { done, value } = await entries.next();
      if (done) isAtEnd = true;
      else enqueue(prepare(value), value.size > WHOLE_BYTES || compresses(value.name));
    } catch (error) {
      isAtEnd = true;
      enqueue(Promise.reject(error), false);
    }
  }

  /**
   * Adds a member to the queue. Its failure is thrown when `next` reaches it, and must not be an unhandled rejection
   * before.
   */
  function enqueue(prepared: Promise<Buffered | undefined>, isHeavy: boolean): void {
    prepared.catch(() => undefined);
    queue.push({ prepared, isHeavy });
  }

  async function prepare(entry: ZipEntry): Promise<Buffered | undefined> {
    if (entry.open === undefined) return { member: toMember(entry, "whole"), content: { bytes: EMPTY, crc: 0 } };
    const file = await entry.open();
    if (file === undefined && isLengthAnnounced) throw createChangedError();
    if (file === undefined) return undefined;
    if (!(file.source instanceof Uint8Array)) opened.add(file.source);
    if (isClosed) {
      await close();
      throw createChangedError();
    }
    const { modified, size } = file;
    const encoding: Encoding = size > 0 && compresses(entry.name) && canDeflate() ? "compressed" : toEncoding(size);
    const member = toMember({ name: entry.name, modified, size }, encoding);
    if (isLengthAnnounced && !isAsAnnounced(entry, file)) throw createChangedError();
    return encoding === "whole" ? readSmall(member, file) : { member, content: toContent(file, encoding) };
  }

  async function readSmall(member: Member, { source, size }: OpenedFile): Promise<Buffered> {
    if (source instanceof Uint8Array) {
      if (source.byteLength !== size) throw createChangedError();
      return { member, content: { bytes: source, crc: crc32(source, 0) } };
    }
    const buffer = takeBuffer(size);
    const bytes = new Uint8Array(buffer, 0, size);
    await readExactly(source, bytes);
    opened.delete(source);
    return { member, content: { bytes, crc: crc32(bytes, 0) }, buffer };
  }

  function toContent({ source, size }: OpenedFile, encoding: "blocks" | "compressed"): EncodedContent {
    const bytes = source instanceof Uint8Array ? sourceOfBytes(source) : source;
    const content = encoding === "blocks" ? createStoredBlocks(bytes, size) : createDeflated(bytes, size);
    opened.delete(bytes);
    opened.add(content);
    return content;
  }

  function takeBuffer(size: number): ArrayBuffer {
    const free = buffers.pop();
    if (free !== undefined && free.byteLength >= size) return free;
    let capacity = MIN_BUFFER_BYTES;
    while (capacity < size) capacity *= 2;
    return new ArrayBuffer(capacity);
  }

  async function close(): Promise<void> {
    isClosed = true;
    isAtEnd = true;
    // Not awaited: a hanging listing must not delay closing.
    entries.return?.().catch(() => undefined);
    const sources = [...opened];
    opened.clear();
    await Promise.all(sources.map((source) => source.close().catch(() => undefined)));
  }

  return { next, close };
}

/**
 * Returns whether a file takes as many bytes in the archive as its entry announced: its content and the field of its
 * time.
 */
function isAsAnnounced(entry: ZipEntry, file: OpenedFile): boolean {
  return entry.size === file.size && toTimeLength(entry.modified) === toTimeLength(file.modified);
}
