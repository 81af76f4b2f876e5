import {
  type BigIntStats,
  close,
  closeSync,
  constants,
  futimes,
  futimesSync,
  lstat,
  lstatSync,
  open,
  openSync,
  read,
  readdir,
  readdirSync,
  readSync,
  rename,
  renameSync,
  unlink,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { changeGuard, readGuard } from "./latency-guard.ts";

/*
 * System calls that are synchronous while the disk is fast, and run in another thread otherwise. They fail with system
 * errors. Calls that are always synchronous, because their caller has checked the guard, are in other files.
 */

/** Name of a member, or a path. It is a buffer if it may not be UTF-8. */
export type MemberName = string | Buffer;

/** Up to this number of bytes, the system copies, allocates or frees content in negligible time. */
export const SMALL_BYTES = 65_536;

/** Copying a step from memory takes some hundredths of this; a device that is asked takes longer. */
const QUICK_STEP_MS = 0.5;

/** For stats whose numbers are exact: times in nanoseconds, and inodes above 2^53. */
export const BIGINT = { bigint: true } as const;
const IF_THERE = { bigint: true, throwIfNoEntry: false } as const;

/** Opens a path. The caller closes the descriptor. */
export async function openDescriptor(path: MemberName, flags: number, mode?: number): Promise<number> {
  const guard = (flags & constants.O_CREAT) === 0 ? readGuard : changeGuard;
  if (guard.isFast()) return guard.timed(() => openSync(path, flags, mode));
  return new Promise((resolve, reject) => {
    open(path, flags, mode, (error, descriptor) => (error ? reject(error) : resolve(descriptor)));
  });
}

/** Returns the stats of a path, a symlink as itself, or `undefined` if nothing is there. */
export async function lookAt(path: MemberName): Promise<BigIntStats | undefined> {
  if (readGuard.isFast()) return lookSync(path);
  return new Promise((resolve, reject) => {
    lstat(path, BIGINT, (error, stats) => {
      if (!error) resolve(stats);
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(error);
    });
  });
}

/** As {@link lookAt}, but always synchronous. */
export function lookSync(path: MemberName): BigIntStats | undefined {
  return readGuard.timed(() => lstatSync(path, IF_THERE));
}

/** Returns the names in a folder that has few. */
export async function readFewNames(path: string): Promise<string[]> {
  if (readGuard.isFast()) return readGuard.timed(() => readdirSync(path));
  return new Promise((resolve, reject) => {
    readdir(path, (error, names) => (error ? reject(error) : resolve(names)));
  });
}

/** Reads at most `length` bytes from `position` on into the start of a buffer. Returns the number of bytes. */
export function readDescriptor(
  descriptor: number,
  buffer: Uint8Array,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, 0, length, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** As {@link readDescriptor}, for a few bytes. The content of a file that was just opened is usually in memory. */
export async function readSmall(descriptor: number, buffer: Uint8Array, position: number): Promise<number> {
  const { byteLength } = buffer;
  if (!readGuard.isFast()) return readDescriptor(descriptor, buffer, byteLength, position);
  return readGuard.timed(() => readSync(descriptor, buffer, 0, byteLength, position));
}

/**
 * Reads a descriptor into buffers, in synchronous steps while they are quick. The first step that is not, because the
 * system had to ask the device, ends the synchronous calls of this reader.
 */
export function createQuickReader(
  descriptor: number,
): (buffer: Uint8Array, length: number, position: number) => Promise<number> {
  let isQuick = true;

  function readStep(buffer: Uint8Array, filled: number, length: number, position: number): number {
    const startedAt = performance.now();
    const count = readSync(descriptor, buffer, filled, Math.min(SMALL_BYTES, length - filled), position + filled);
    isQuick = performance.now() - startedAt < QUICK_STEP_MS;
    return count;
  }

  return async function read(buffer, length, position) {
    let filled = 0;
    while (filled < length && isQuick && readGuard.isFast()) {
      const count = readGuard.timed(() => readStep(buffer, filled, length, position));
      if (count === 0) return filled;
      filled += count;
    }
    return filled > 0 || length === 0 ? filled : readDescriptor(descriptor, buffer, length, position);
  };
}

/** Closes a folder, or a small file that was only read. Such a close does not wait, and no data can be lost. */
export function release(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    throwIfNotOpen(error);
  }
}

/** As {@link release}, for a file of any size that was only read. */
export async function releaseFile(descriptor: number, { isQuick = false }: CallSpeed = {}): Promise<void> {
  if (isQuick && changeGuard.isFast()) changeGuard.timed(() => release(descriptor));
  else await closeFile(descriptor).catch(throwIfNotOpen);
}

/** After all other errors the descriptor is closed too, so only EBADF is reported. */
function throwIfNotOpen(error: unknown): void {
  if (error instanceof Error && "code" in error && error.code === "EBADF") throw error;
}

/** Writes bytes, or the first of them, at `position`. Returns the number of bytes written. */
export async function writeDescriptor(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  const { byteLength } = bytes;
  if (byteLength <= SMALL_BYTES && changeGuard.isFast()) {
    return changeGuard.timed(() => writeSync(descriptor, bytes, 0, byteLength, position));
  }
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, byteLength, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** Sets the modification time of a file, in seconds. */
export async function setTime(descriptor: number, time: number): Promise<void> {
  if (changeGuard.isFast()) return changeGuard.timed(() => futimesSync(descriptor, time, time));
  return new Promise((resolve, reject) => {
    futimes(descriptor, time, time, (error) => (error ? reject(error) : resolve()));
  });
}

/** What the caller knows of the duration of a call. */
export interface CallSpeed {
  /** The call cannot take long, so it may be synchronous. Default: false. */
  readonly isQuick?: boolean;
}

/**
 * Renames a member and replaces what had the name. That is quick if the system has no deferred work: the file has no
 * bytes that some file systems allocate only now, and the replaced file has few bytes to free.
 */
export async function renameMember(
  from: MemberName,
  to: MemberName,
  { isQuick = false }: CallSpeed = {},
): Promise<void> {
  if (isQuick && changeGuard.isFast()) return changeGuard.timed(() => renameSync(from, to));
  return new Promise((resolve, reject) => {
    rename(from, to, (error) => (error ? reject(error) : resolve()));
  });
}

/** Removes a file that has few bytes to free. */
export async function unlinkSmall(path: MemberName): Promise<void> {
  if (changeGuard.isFast()) return changeGuard.timed(() => unlinkSync(path));
  return new Promise((resolve, reject) => {
    unlink(path, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Closes a file. That is quick if the file is small. If a large file was replaced meanwhile, its last close takes long:
 * it frees the bytes.
 */
export async function closeFile(descriptor: number, { isQuick = false }: CallSpeed = {}): Promise<void> {
  if (isQuick && changeGuard.isFast()) return changeGuard.timed(() => closeSync(descriptor));
  return new Promise((resolve, reject) => {
    close(descriptor, (error) => (error ? reject(error) : resolve()));
  });
}
