import type { ByteSource } from "../contracts/byte-source.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import type { EncodedContent } from "./content.ts";
import { type ArchiveOptions, createReadAhead, type Prepared, type ZipEntry } from "./read-ahead.ts";
import { createDirectory } from "./zip-directory.ts";
import { type Member, setDescriptor, setLocalHeader, toDescriptorLength, toLocalLength } from "./zip-records.ts";

/** A content is not read into less room than this behind other bytes: a buffer of its own takes it in fewer steps. */
const MIN_ROOM_BYTES = 16_384;
/** So many members are gone through before others have their turn: there may be nothing to wait for. */
const MEMBERS_PER_YIELD = 500;

/** A member whose content is being written, and where it began. */
interface Streamed {
  readonly member: Member;
  readonly content: EncodedContent;
  readonly offset: number;
}

/**
 * A ZIP archive, made as it is read, straight into the reader's buffers. What is held is the central directory (some 60 bytes and the name
 * for each member), up to eight members opened ahead, the small ones of them with their content, and nothing of the large ones. Zip64 is
 * used only where it is needed. Equal entries make equal bytes, whatever the buffers.
 *
 * Members of up to 128 KiB are stored entries (method 0) with CRC and size in their headers. The CRC of a larger one is known only when
 * all of it has been sent, so it stands in a descriptor behind the content. Nothing tells a streaming reader where a stored content with
 * a descriptor ends (Java's `ZipInputStream` refuses it), so such a content goes out as stored blocks of DEFLATE (method 8), 5 bytes
 * for each 65,535: whatever reads ZIP reads this, streaming or not. Only what `compresses` is compressed.
 *
 * Reading fails when a content fails or is not of its file's size, and when `entries` fail: the archive has no end then, and no
 * reader takes it for whole (CONTRACT 3.4). All that is open is released then, and by `close`.
 */
export function createZip(entries: AsyncIterator<ZipEntry>, options: ArchiveOptions = {}): ByteSource {
  const ahead = createReadAhead(entries, options);
  const directory = createDirectory();
  /** What is to be written before anything else, the next one last. */
  const pieces: Uint8Array[] = [];
  /** For one record at a time. */
  let record = new Uint8Array(256);
  let streamed: Streamed | undefined;
  let ending: Iterator<Uint8Array> | undefined;
  let offset = 0;
  let members = 0;

  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      return await fill(buffer);
    } catch (error) {
      await ahead.close();
      throw error;
    }
  }

  async function fill(buffer: Uint8Array): Promise<number> {
    let at = 0;
    while (at < buffer.byteLength) {
      if (pieces.length > 0) {
        at += copyPiece(buffer, at);
        continue;
      }
      if (streamed === undefined) {
        if (!(await readOn())) break;
        continue;
      }
      if (at > 0 && buffer.byteLength - at < MIN_ROOM_BYTES) break;
      at += await readStreamed(streamed, buffer.subarray(at));
    }
    return at;
  }

  async function readStreamed(from: Streamed, buffer: Uint8Array): Promise<number> {
    const count = await from.content.readInto(buffer);
    if (count === 0) finish(from);
    return count;
  }

  function copyPiece(buffer: Uint8Array, at: number): number {
    const piece = pieces.pop() as Uint8Array;
    const room = buffer.byteLength - at;
    if (piece.byteLength <= room) {
      buffer.set(piece, at);
      return piece.byteLength;
    }
    buffer.set(piece.subarray(0, room), at);
    pieces.push(piece.subarray(room));
    return room;
  }

  /** Turns to the next member, or behind the last one to the directory; false at the very end. */
  async function readOn(): Promise<boolean> {
    const prepared = ending === undefined ? await ahead.next() : undefined;
    if (prepared !== undefined) {
      begin(prepared);
      if (++members % MEMBERS_PER_YIELD === 0) await yieldToEventLoop();
      return true;
    }
    ending ??= directory.end(offset);
    const { done, value } = ending.next();
    if (done === true) return false;
    pieces.push(value);
    return true;
  }

  function begin({ member, content }: Prepared): void {
    const header = toRecord(toLocalLength(member));
    if ("readInto" in content) {
      setLocalHeader(header, member);
      streamed = { member, content, offset };
    } else {
      setLocalHeader(header, member, content.crc);
      if (content.bytes.byteLength > 0) pieces.push(content.bytes);
      directory.add(member, content.crc, offset);
      offset += content.bytes.byteLength;
    }
    pieces.push(header);
    offset += header.byteLength;
  }

  /** Room for a record, in place of the one before. */
  function toRecord(length: number): Uint8Array {
    if (length > record.byteLength) record = new Uint8Array(length);
    return record.subarray(0, length);
  }

  function finish({ member, content, offset: start }: Streamed): void {
    const { crc, storedSize } = content.written();
    const known = { ...member, storedSize };
    const descriptor = toRecord(toDescriptorLength(known));
    setDescriptor(descriptor, known, crc);
    pieces.push(descriptor);
    directory.add(known, crc, start);
    offset += storedSize + descriptor.byteLength;
    streamed = undefined;
  }

  return { readInto, close: () => ahead.close() };
}
