import { constants, fstatSync, readSync } from "node:fs";
import type { ByteSource } from "../../contracts/byte-source.ts";
import { type ByteRange, type StorageEntry, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../contracts/stored-file.ts";
import { toStorageError } from "./errors.ts";
import { toEntry } from "./list.ts";
import type { OpenFolder } from "./open-folder.ts";
import { createQuickReader, readDescriptor, readSmall, release, releaseFile, SMALL_BYTES } from "./system-calls.ts";

/**
 * Files up to this size are read synchronously, in steps, as long as each step shows that the system has them in
 * memory.
 */
const MEDIUM_BYTES = 524_288;

/** Opens a member for reading. The entry gets `askedName`, which differs from `name` if a symlink was followed. */
export async function readMember(
  folder: OpenFolder,
  name: string,
  askedName: string,
  range?: ByteRange,
): Promise<StoredFile> {
  return readOpened(await folder.openFile(name, constants.O_RDONLY), askedName, range);
}

/**
 * As {@link readMember}, but synchronous, for fast disks (`latency-guard.ts`). Returns `undefined` if it fails or needs
 * more than a few calls. The asynchronous way then finds the reason.
 */
export function readMemberSync(
  folder: OpenFolder,
  name: string,
  askedName: string,
  range?: ByteRange,
): StoredFile | undefined {
  let descriptor: number | undefined;
  let isQuick = true;
  try {
    descriptor = folder.openFileSync?.(name);
    if (descriptor === undefined) return undefined;
    const { entry, start, end } = toPart(descriptor, askedName, range);
    if (end - start > SMALL_BYTES) {
      const source = toSource(descriptor, start, end);
      descriptor = undefined;
      return toStoredFile(entry, source);
    }
    isQuick = entry.size <= SMALL_BYTES;
    const bytes = Buffer.allocUnsafe(end - start);
    const isWhole =
      bytes.byteLength === 0 || readSync(descriptor, bytes, 0, bytes.byteLength, start) === bytes.byteLength;
    return isWhole ? toStoredFile(entry, bytes) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) releaseDescriptor(descriptor, { isQuick });
  }
}

/**
 * Closes a descriptor without waiting. Large files are closed in another thread, because the system may have to free
 * their bytes.
 */
function releaseDescriptor(descriptor: number, { isQuick }: { readonly isQuick: boolean }): void {
  if (isQuick) release(descriptor);
  else releaseFile(descriptor).catch(() => undefined);
}

/** Reads from a descriptor and closes it on every way out. Entry and bytes come from this one descriptor. */
export async function readOpened(descriptor: number, name: string, range?: ByteRange): Promise<StoredFile> {
  let isHeld = false;
  let isQuick = true;
  try {
    const { entry, start, end } = toPart(descriptor, name, range);
    isQuick = entry.size <= SMALL_BYTES;
    // Small content is read here, so the descriptor can be closed.
    if (end - start <= SMALL_BYTES) return toStoredFile(entry, await readAll(descriptor, start, end));
    isHeld = true;
    return toStoredFile(entry, toSource(descriptor, start, end));
  } catch (error) {
    throw toStorageError(error);
  } finally {
    if (!isHeld) await releaseFile(descriptor, { isQuick });
  }
}

/** The entry of an open file, and the requested range of its bytes. */
interface Part {
  readonly entry: StorageEntry;
  readonly start: number;
  readonly end: number;
}

/** Synchronous: after an open the system has the stats in memory. */
function toPart(descriptor: number, name: string, range?: ByteRange): Part {
  const entry = toEntry(name, fstatSync(descriptor, { bigint: true }));
  if (entry === undefined) throw new StorageError("not-found", `${name} is neither a file nor a folder.`);
  if (entry.kind !== "file") throw new StorageError("not-a-file");
  const start = Math.min(range?.offset ?? 0, entry.size);
  return { entry, start, end: Math.min(start + (range?.length ?? entry.size), entry.size) };
}

async function readAll(descriptor: number, start: number, end: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(end - start);
  for (let filled = 0; filled < bytes.byteLength; ) {
    const rest = bytes.subarray(filled);
    const count = await readSmall(descriptor, rest, start + filled);
    if (count === 0) throw tooShort();
    filled += count;
  }
  return bytes;
}

function toSource(descriptor: number, start: number, end: number): ByteSource {
  const isMedium = end - start <= MEDIUM_BYTES;
  const read = isMedium ? createQuickReader(descriptor) : readFrom;
  let position = start;
  let isOpen = true;
  let reading: Promise<number> | undefined;

  async function releaseOnce(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await releaseFile(descriptor, { isQuick: isMedium });
  }

  function readFrom(buffer: Uint8Array, length: number, from: number): Promise<number> {
    return readDescriptor(descriptor, buffer, length, from);
  }

  async function readInto(buffer: Uint8Array): Promise<number> {
    const length = Math.min(buffer.byteLength, end - position);
    if (length === 0) return 0;
    if (!isOpen) throw new StorageError("unavailable", "The file is closed.");
    try {
      reading = read(buffer, length, position);
      const count = await reading;
      if (count === 0) throw tooShort();
      position += count;
      if (position === end) await releaseOnce();
      return count;
    } catch (error) {
      await releaseOnce();
      throw toStorageError(error);
    } finally {
      reading = undefined;
    }
  }

  /**
   * Waits for a pending read. If the descriptor were closed during the read, it could already belong to another file.
   */
  async function close(): Promise<void> {
    await reading?.catch(() => undefined);
    position = end;
    await releaseOnce();
  }

  return { readInto, close };
}

function tooShort(): StorageError {
  return new StorageError("unavailable", "The file became shorter while it was read.");
}
