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
  readSync,
  rename,
  renameSync,
  write,
  writeSync,
} from "node:fs";
import { changePace, latencyGuard } from "./latency-guard.ts";

/*
 * System calls that are made at once while the disk is quick, else in another thread. They fail with the system's own errors. What is at once in any case, as its
 * caller has found the disk quick, is elsewhere: `openSync` and what it is made of.
 */

/** A member's name, or a path; as bytes where it may not be UTF-8. */
export type MemberName = string | Buffer;

/** So many bytes are copied, allotted or freed in no time. */
export const SMALL_BYTES = 65_536;

const BIGINT = { bigint: true } as const;
const IF_THERE = { bigint: true, throwIfNoEntry: false } as const;

/** Opens a path; the descriptor is the caller's to close. */
export async function openDescriptor(path: MemberName, flags: number, mode?: number): Promise<number> {
  const guard = (flags & constants.O_CREAT) === 0 ? latencyGuard : changePace;
  if (guard.isFast()) return guard.timed(() => openSync(path, flags, mode));
  return new Promise((resolve, reject) => {
    open(path, flags, mode, (error, descriptor) => (error ? reject(error) : resolve(descriptor)));
  });
}

/** What stands at a path, a link as a link; `undefined` when nothing does. */
export async function lookAt(path: MemberName): Promise<BigIntStats | undefined> {
  if (latencyGuard.isFast()) return lookSync(path);
  return new Promise((resolve, reject) => {
    lstat(path, BIGINT, (error, stats) => {
      if (!error) resolve(stats);
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(error);
    });
  });
}

/** The same, whatever the pace. */
export function lookSync(path: MemberName): BigIntStats | undefined {
  return latencyGuard.timed(() => lstatSync(path, IF_THERE));
}

/** Reads at most `length` bytes from `position` on to the begin of a buffer; how many. */
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

/** The same for few bytes: what has just been opened is most often in memory. */
export async function readSmall(descriptor: number, buffer: Uint8Array, position: number): Promise<number> {
  const { byteLength } = buffer;
  if (!latencyGuard.isFast()) return readDescriptor(descriptor, buffer, byteLength, position);
  return latencyGuard.timed(() => readSync(descriptor, buffer, 0, byteLength, position));
}

/** Lets go of a descriptor of a folder, or a small file that was only read: nothing is waited for, and nothing can be lost. */
export function release(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    throwIfNotOpen(error);
  }
}

/** The same of any file that was only read. */
export async function releaseFile(descriptor: number, isSmall: boolean): Promise<void> {
  await closeFile(descriptor, isSmall).catch(throwIfNotOpen);
}

/** Whatever else the system says, it has let go of the descriptor. */
function throwIfNotOpen(error: unknown): void {
  if (error instanceof Error && "code" in error && error.code === "EBADF") throw error;
}

/** Writes bytes, or the first of them, at `position`; how many. */
export async function writeDescriptor(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  const { byteLength } = bytes;
  if (byteLength <= SMALL_BYTES && changePace.isFast()) {
    return changePace.timed(() => writeSync(descriptor, bytes, 0, byteLength, position));
  }
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, byteLength, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** Gives a file its time, in seconds. */
export async function setTime(descriptor: number, time: number): Promise<void> {
  if (changePace.isFast()) return changePace.timed(() => futimesSync(descriptor, time, time));
  return new Promise((resolve, reject) => {
    futimes(descriptor, time, time, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Gives a member another name; what had it is gone. `isSmall`: neither has the file bytes that some systems allot on the disk only now, nor had
 * the other one many to be freed.
 */
export async function renameMember(from: MemberName, to: MemberName, isSmall: boolean): Promise<void> {
  if (isSmall && changePace.isFast()) return changePace.timed(() => renameSync(from, to));
  return new Promise((resolve, reject) => {
    rename(from, to, (error) => (error ? reject(error) : resolve()));
  });
}

/** Closes a file, with whatever the system still does then: the last to close a large one that was replaced meanwhile frees its bytes. */
export async function closeFile(descriptor: number, isSmall: boolean): Promise<void> {
  if (isSmall && changePace.isFast()) return changePace.timed(() => closeSync(descriptor));
  return new Promise((resolve, reject) => {
    close(descriptor, (error) => (error ? reject(error) : resolve()));
  });
}
