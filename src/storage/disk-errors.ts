import { constants } from "node:os";
import { isStorageError, StorageError, type StorageErrorCode } from "../contracts/storage-adapter.ts";

/** What codes of the system mean to one verb, where that differs from the usual. */
export type SystemCodes = Readonly<Record<string, StorageErrorCode>>;

const USUAL: SystemCodes = {
  ENOENT: "not-found",
  // O_NOFOLLOW met a link; a socket, or a device without a driver, was opened.
  ELOOP: "not-found",
  ENXIO: "not-found",
  ENODEV: "not-found",
  ENOTDIR: "not-a-folder",
  EEXIST: "already-exists",
  EISDIR: "not-a-file",
  ENAMETOOLONG: "bad-name",
  EILSEQ: "bad-name",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
  EFBIG: "too-large",
  ENOTEMPTY: "unavailable",
  EMFILE: "unavailable",
  ENFILE: "unavailable",
  ENOMEM: "unavailable",
  EIO: "unavailable",
  ESTALE: "unavailable",
  ETIMEDOUT: "unavailable",
  EBUSY: "unavailable",
};

const nameByNumber = new Map(Object.entries(constants.errno).map(([name, number]) => [-number, name]));

/** The result of a system call; its failure as a {@link StorageError} with the system's as `cause`. */
export async function translated<T>(call: Promise<T>, codes?: SystemCodes): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toStorageError(error, codes);
  }
}

/** A system error as the {@link StorageError} that it amounts to; anything else as it is. */
export function toStorageError(error: unknown, codes: SystemCodes = {}): unknown {
  const system = systemCode(error);
  if (isStorageError(error) || system === undefined) return error;
  const code = codes[system] ?? USUAL[system];
  return code === undefined ? error : new StorageError(code, (error as Error).message, { cause: error });
}

/** The result of a call, or `undefined` where it fails with one of these codes of the system. */
export async function unless<T>(call: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** The result of a call whose {@link StorageError} with the code `from` means `to` here. */
export async function renamed<T>(call: Promise<T>, from: StorageErrorCode, to: StorageErrorCode): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isStorageError(error) || error.code !== from) throw error;
    throw new StorageError(to, error.message, { cause: error });
  }
}

/** The system's code (`ENOENT`) of an error of the file system. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("errno" in error)) return undefined;
  // libuv has no names for some, EDQUOT and ESTALE among them.
  return nameByNumber.get(Number(error.errno)) ?? ("code" in error ? String(error.code) : undefined);
}

/** For `catch`: `undefined` where a {@link StorageError} says that there is no such folder. */
export function undefinedIfMissing(error: unknown): undefined {
  if (isStorageError(error) && (error.code === "not-found" || error.code === "not-a-folder")) return undefined;
  throw error;
}
