import { StorageError } from "../contracts/storage-adapter.ts";
import { crc32 } from "./crc32.ts";
import { createBlockFramer, toFramedSize } from "./stored-blocks.ts";
import { createDirectory } from "./zip-directory.ts";
import { concatenate, encodeName, type Member, toDescriptor, toLocalHeader } from "./zip-records.ts";

/** A member of an archive: a file, or a folder. */
export interface ZipEntry {
  /** `/`-separated and safe as it is; a folder's ends in `/`. */
  readonly name: string;
  readonly modified: Date;
  /** Bytes of the content; 0 for folders. */
  readonly size: number;
  /** The content; none for folders. It belongs to whoever takes the entry: read to its end, or cancelled. */
  readonly body?: ReadableStream<Uint8Array>;
}

/** Up to this size a member is read before its header is written: no more than one chunk of a disk. */
const WHOLE_BYTES = 131_072;
/** Pieces below this size are sent together, up to {@link BATCH_BYTES}. */
const SMALL_BYTES = 8192;
const BATCH_BYTES = 65_536;

/**
 * A ZIP archive, made as it is read: what is held is the central directory (some 60 bytes and the name for each member) and one chunk of
 * content. Nothing is compressed, and Zip64 is used only where it is needed. Equal entries make equal bytes.
 *
 * Members of up to 128 KiB are stored entries (method 0) with CRC and size in their headers. The CRC of a larger one is known only when
 * all of it has been sent, so it stands in a descriptor behind the content. Nothing tells a streaming reader where a stored content with
 * a descriptor ends (Java's `ZipInputStream` refuses it), so such a content goes out as stored blocks of DEFLATE (method 8), 5 bytes
 * for each 65,535: whatever reads ZIP reads this, streaming or not.
 *
 * The stream fails when a content fails or is not of its entry's size, and when `entries` fail: the archive has no end then, and no
 * reader takes it for whole (CONTRACT 3.4). Cancelling it cancels the content being read and ends `entries`.
 */
export function streamZip(entries: AsyncIterable<ZipEntry>): ReadableStream<Uint8Array> {
  const content = createContent();
  const pieces = writeArchive(entries, content);

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const batch: Uint8Array[] = [];
    let batched = 0;
    let next = await pieces.next();
    for (; next.done !== true && next.value.byteLength < SMALL_BYTES; next = await pieces.next()) {
      batch.push(next.value);
      batched += next.value.byteLength;
      if (batched >= BATCH_BYTES) return controller.enqueue(concatenate(batch));
    }
    if (batched > 0) controller.enqueue(concatenate(batch));
    if (next.done === true) controller.close();
    else controller.enqueue(next.value);
  }

  async function cancel(reason: unknown): Promise<void> {
    // Not awaited: a silent source may never answer.
    pieces.return(undefined).catch(() => undefined);
    await content.cancel(reason);
  }

  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

async function* writeArchive(entries: AsyncIterable<ZipEntry>, content: Content): AsyncGenerator<Uint8Array> {
  const directory = createDirectory();
  let offset = 0;
  try {
    for await (const entry of entries) {
      content.take(entry.body);
      const member = toMember(entry);
      const { crc, length } = yield* member.method === "stored"
        ? writeWhole(member, content)
        : writeStreamed(member, content);
      directory.add(member, crc, offset);
      offset += length;
    }
  } finally {
    await content.cancel();
  }
  yield* directory.end(offset);
}

/** What is known of a member once it has been written: its CRC, and the bytes that it takes in the archive. */
interface Written {
  readonly crc: number;
  readonly length: number;
}

/** A folder, or a file that is read before the first byte of it is written. */
async function* writeWhole(member: Member, content: Content): AsyncGenerator<Uint8Array, Written> {
  const chunks: Uint8Array[] = [];
  let crc = 0;
  for await (const chunk of content.read(member.size)) {
    crc = crc32(chunk, crc);
    chunks.push(chunk);
  }
  const header = toLocalHeader(member, crc);
  yield header;
  yield* chunks;
  return { crc, length: header.byteLength + member.storedSize };
}

/** A file that is written as it is read. */
async function* writeStreamed(member: Member, content: Content): AsyncGenerator<Uint8Array, Written> {
  const header = toLocalHeader(member);
  yield header;
  const frame = createBlockFramer(member.size);
  let crc = 0;
  for await (const chunk of content.read(member.size)) {
    crc = crc32(chunk, crc);
    yield frame(chunk);
  }
  const descriptor = toDescriptor(member, crc);
  yield descriptor;
  return { crc, length: header.byteLength + member.storedSize + descriptor.byteLength };
}

function toMember({ name, modified, size }: ZipEntry): Member {
  const isWhole = size <= WHOLE_BYTES;
  return {
    name: encodeName(name),
    isFolder: name.endsWith("/"),
    modified,
    method: isWhole ? "stored" : "deflated",
    size,
    storedSize: isWhole ? size : toFramedSize(size),
  };
}

/** The content of one member at a time: to be cancelled also while a read of it hangs, when no generator can be ended. */
interface Content {
  /** From now on it is this one; nothing for a folder. */
  take(body: ReadableStream<Uint8Array> | undefined): void;
  /** Its chunks, none of them empty. They come to `size` bytes, or this throws. */
  read(size: number): AsyncGenerator<Uint8Array>;
  /** Cancels what has not been read to its end, and whatever is taken later. */
  cancel(reason?: unknown): Promise<void>;
}

function createContent(): Content {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let isCancelled = false;

  function take(body: ReadableStream<Uint8Array> | undefined): void {
    reader = body?.getReader();
    if (isCancelled) void cancel();
  }

  async function* read(size: number): AsyncGenerator<Uint8Array> {
    let left = size;
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      left -= next.value.byteLength;
      if (left < 0) break;
      if (next.value.byteLength > 0) yield next.value;
    }
    if (left !== 0) throw new StorageError("unavailable", "A file was not read with the size that it had.");
    reader = undefined;
  }

  async function cancel(reason?: unknown): Promise<void> {
    isCancelled = true;
    // Of a content that has failed there is nothing to cancel; its own failure is told already.
    await reader?.cancel(reason).catch(() => undefined);
  }

  return { take, read, cancel };
}
