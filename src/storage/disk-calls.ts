import {
  type BigIntStats,
  close,
  closeSync,
  constants,
  lstat,
  lstatSync,
  open,
  openSync,
  read,
  readSync,
} from "node:fs";
import type { MemberName } from "./disk-folder.ts";
import { diskPace } from "./disk-pace.ts";

/*
 * System calls that read, made at once while the disk is quick, else in another thread. They fail with the system's own errors.
 */

const BIGINT = { bigint: true } as const;
const IF_THERE = { bigint: true, throwIfNoEntry: false } as const;

/** Opens a path; the descriptor is the caller's to close. What creates a file is never done at once: a full journal would be waited for. */
export async function openDescriptor(path: MemberName, flags: number, mode?: number): Promise<number> {
  if (diskPace.isQuick() && (flags & constants.O_CREAT) === 0) return diskPace.timed(() => openSync(path, flags, mode));
  return new Promise((resolve, reject) => {
    open(path, flags, mode, (error, descriptor) => (error ? reject(error) : resolve(descriptor)));
  });
}

/** What stands at a path, a link as a link; `undefined` when nothing does. */
export async function lookAt(path: MemberName): Promise<BigIntStats | undefined> {
  if (diskPace.isQuick()) return lookAtOnce(path);
  return new Promise((resolve, reject) => {
    lstat(path, BIGINT, (error, stats) => {
      if (!error) resolve(stats);
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(error);
    });
  });
}

/** The same, whatever the pace. */
export function lookAtOnce(path: MemberName): BigIntStats | undefined {
  return diskPace.timed(() => lstatSync(path, IF_THERE));
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
  if (!diskPace.isQuick()) return readDescriptor(descriptor, buffer, byteLength, position);
  return diskPace.timed(() => readSync(descriptor, buffer, 0, byteLength, position));
}

/** Lets go of a descriptor that was only read: nothing is waited for. */
export function release(descriptor: number): void {
  closeSync(descriptor);
}

/** Closes what was written: file systems of a network send it off only now. */
export function closeWritten(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    close(descriptor, (error) => (error ? reject(error) : resolve()));
  });
}
