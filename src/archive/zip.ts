import type { ByteSource } from "../contracts/byte-source.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import type { EncodedContent } from "./content.ts";
import { type ArchiveOptions, createReadAhead, type Prepared, type ZipEntry } from "./read-ahead.ts";
import { createDirectory } from "./zip-directory.ts";
import { type Member, setDescriptor, setLocalHeader, toDescriptorLength, toLocalLength } from "./zip-records.ts";

/** If less room is left after other bytes, a content starts in the next buffer, which takes fewer reads. */
const MIN_ROOM_BYTES = 16_384;
/**
 * How many members are written before other requests can continue. Reading small members may never wait for anything.
 */
const MEMBERS_PER_YIELD = 500;

/** A member whose content is being written, and the position of its header. */
interface Streamed {
  readonly member: Member;
  readonly content: EncodedContent;
  readonly offset: number;
}

/**
 * Creates a ZIP archive as a source that is generated while it is read, directly into the reader's buffers. Memory
 * holds the central directory (about 60 bytes and the name for each member) and up to eight members opened in advance,
 * with the content of the small ones only. Zip64 is used only when it is needed. Equal entries give equal bytes for
 * every size of buffers.
 *
 * Members of up to 128 KiB are stored entries (method 0) with CRC and size in their headers. For a larger member the
 * CRC is known only after the content was sent, so it is in a descriptor after the content. A streaming reader cannot
 * find the end of a stored content with a descriptor (Java's `ZipInputStream` refuses it). So such a content is sent as
 * stored blocks of DEFLATE (method 8), with 5 more bytes for each 65,535: all readers of ZIP accept this, streaming or
 * not. A member is compressed only if `compresses` returns true.
 *
 * Reading fails when reading a content fails, when a content does not have its file's size, and when `entries` fail.
 * The archive then has no end record, so no reader accepts it as complete (CONTRACT 3.4). A failure, and `close`,
 * release everything that is open.
 */
export function createZip(entries: AsyncIterator<ZipEntry>, options: ArchiveOptions = {}): ByteSource {
  const ahead = createReadAhead(entries, options);
  const directory = createDirectory();
  /** A stack of bytes to write before anything else; the last item is the next to write. */
  const pieces: Uint8Array[] = [];
  /** Reused for each record, as only one is needed at a time. */
  let record = new Uint8Array(256);
  let streamed: Streamed | undefined;
  let directoryBytes: Iterator<Uint8Array> | undefined;
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
        if (!(await advance())) break;
        continue;
      }
      if (at > 0 && buffer.byteLength - at < MIN_ROOM_BYTES) break;
      at += await readStreamed(streamed, buffer.subarray(at));
    }
    return at;
  }

  async function readStreamed(from: Streamed, buffer: Uint8Array): Promise<number> {
    const count = await from.content.readInto(buffer);
    if (count === 0) finishMember(from);
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

  /**
   * Starts the next member or, after the last one, the next part of the directory. Returns false at the archive's end.
   */
  async function advance(): Promise<boolean> {
    const prepared = directoryBytes === undefined ? await ahead.next() : undefined;
    if (prepared !== undefined) {
      startMember(prepared);
      if (++members % MEMBERS_PER_YIELD === 0) await yieldToEventLoop();
      return true;
    }
    directoryBytes ??= directory.end(offset);
    const { done, value } = directoryBytes.next();
    if (done === true) return false;
    pieces.push(value);
    return true;
  }

  function startMember({ member, content }: Prepared): void {
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

  /** Returns the reused buffer of the record, which overwrites the previous record. */
  function toRecord(length: number): Uint8Array {
    if (length > record.byteLength) record = new Uint8Array(length);
    return record.subarray(0, length);
  }

  function finishMember({ member, content, offset: start }: Streamed): void {
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
