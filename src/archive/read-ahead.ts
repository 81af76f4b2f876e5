import { type ByteSource, sourceOfBytes } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent, readWhole } from "./content.ts";
import { crc32 } from "./crc32.ts";
import { canDeflate, createDeflated } from "./deflate.ts";
import { createStoredBlocks } from "./stored-blocks.ts";
import { type Encoding, type MemberHead, toEncoding, toMember, WHOLE_BYTES } from "./zip-member.ts";
import { type Member, toTimeLength } from "./zip-records.ts";

/** A member of an archive: a file, or a folder. */
export interface ZipEntry extends MemberHead {
  /** Opens a file, none for folders; `undefined` where it is to be left out after all. */
  readonly open?: () => Promise<OpenedFile | undefined>;
}

/** A file that has been opened, with what is true of this very version. */
export interface OpenedFile {
  readonly modified: Date;
  readonly size: number;
  /** The content. A source belongs to whoever has opened the file: read to its end, or closed. */
  readonly source: Uint8Array | ByteSource;
}

export interface ArchiveOptions {
  /**
   * Whether the archive's length has been promised: a member that is not as its entry says, or not there any more, is a failure then.
   * Default: false, it is as it was opened, or left out.
   */
  readonly isLengthAnnounced?: boolean;
  /** Whether a member of this name is worth compressing. Default: none is. */
  readonly compresses?: (name: string) => boolean;
}

/** A member as it goes into the archive: a small one with its content, a large one with what its content is read from. */
export interface Prepared {
  readonly member: Member;
  readonly content: { readonly bytes: Uint8Array; readonly crc: number } | EncodedContent;
}

/** The members of an archive, made ready in their order, some of them ahead. */
export interface ReadAhead {
  /** The next member; `undefined` behind the last one. The `bytes` of the one before are not to be used any more. */
  next(): Promise<Prepared | undefined>;
  /** Releases whatever has been opened, and ends the entries. What is being opened at the moment is released when it comes. */
  close(): Promise<void>;
}

/** So many members are opened, the small ones among them read, before they are asked for: opening takes longest with small ones. */
const MEMBERS_AHEAD = 8;
/** The smallest buffer for a content that is read ahead; larger ones double. */
const MIN_BUFFER_BYTES = 4096;
const NOTHING = new Uint8Array(0);

/** With the buffer of ours that its content was read into. */
interface Queued extends Prepared {
  readonly buffer?: ArrayBuffer;
}

/** A member that is being made ready. */
interface Ahead {
  readonly prepared: Promise<Queued | undefined>;
  /** Whether its content is read only when its turn comes. */
  readonly isHeavy: boolean;
}

export function createReadAhead(entries: AsyncIterator<ZipEntry>, options: ArchiveOptions): ReadAhead {
  const { isLengthAnnounced = false, compresses = () => false } = options;
  const queue: Ahead[] = [];
  const opened = new Set<ByteSource>();
  const buffers: ArrayBuffer[] = [];
  let current: Queued | undefined;
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

  function release({ content, buffer }: Queued): void {
    if ("readInto" in content) opened.delete(content);
    if (buffer !== undefined) buffers.push(buffer);
  }

  /** Takes entries, one after the other, as long as there is room ahead. Resolves with the next one. */
  function fillQueue(): Promise<void> {
    step ??= takeEntry().then(() => {
      step = undefined;
      // One that holds a descriptor, or a compressor, is enough: who takes nothing would hold eight.
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

  /** Failures wait for their turn, when there is somebody to tell. */
  function enqueue(prepared: Promise<Queued | undefined>, isHeavy: boolean): void {
    prepared.catch(() => undefined);
    queue.push({ prepared, isHeavy });
  }

  async function prepare(entry: ZipEntry): Promise<Queued | undefined> {
    if (entry.open === undefined) return { member: toMember(entry, "whole"), content: { bytes: NOTHING, crc: 0 } };
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

  async function readSmall(member: Member, { source, size }: OpenedFile): Promise<Queued> {
    if (source instanceof Uint8Array) {
      if (source.byteLength !== size) throw createChangedError();
      return { member, content: { bytes: source, crc: crc32(source, 0) } };
    }
    const buffer = takeBuffer(size);
    const bytes = new Uint8Array(buffer, 0, size);
    await readWhole(source, bytes);
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
    // Not awaited: a listing may never answer.
    entries.return?.().catch(() => undefined);
    const sources = [...opened];
    opened.clear();
    await Promise.all(sources.map((source) => source.close().catch(() => undefined)));
  }

  return { next, close };
}

/** Whether a file takes the bytes that its entry does: sizes and, in the headers, the field for its time. */
function isAsAnnounced(entry: ZipEntry, file: OpenedFile): boolean {
  return entry.size === file.size && toTimeLength(entry.modified) === toTimeLength(file.modified);
}
