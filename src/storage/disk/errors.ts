import { constants } from "node:os";
import { hasCode, isStorageError, StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";

/** Meanings of system error codes for one method, where they differ from the usual ones. */
export type SystemCodes = Readonly<Record<string, StorageErrorCode>>;

const USUAL: SystemCodes = {
  ENOENT: "not-found",
  // ELOOP: O_NOFOLLOW met a symlink. ENXIO and ENODEV: the path is a socket, or a device without a driver.
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
  // The file system does not support the call, or the key of an encrypted folder is missing. Retrying does not help.
  ENOTSUP: "denied",
  EOPNOTSUPP: "denied",
  ENOSYS: "denied",
  ENOKEY: "denied",
  EKEYEXPIRED: "denied",
  EKEYREVOKED: "denied",
  EKEYREJECTED: "denied",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
  // The folder has reached the limit of subfolders.
  EMLINK: "no-space",
  EFBIG: "too-large",
  ENOTEMPTY: "unavailable",
  EMFILE: "unavailable",
  ENFILE: "unavailable",
  ENOMEM: "unavailable",
  EIO: "unavailable",
  ESTALE: "unavailable",
  ETIMEDOUT: "unavailable",
  EBUSY: "unavailable",
  ETXTBSY: "unavailable",
  EXDEV: "unavailable",
  EAGAIN: "unavailable",
  // Another name of EAGAIN on some systems.
  EWOULDBLOCK: "unavailable",
  EINTR: "unavailable",
  ECANCELED: "unavailable",
  EDEADLK: "unavailable",
  ENOLCK: "unavailable",
  ENOBUFS: "unavailable",
  // A network drive or a user's drive is not reachable, or a drive is damaged.
  ECONNABORTED: "unavailable",
  ECONNREFUSED: "unavailable",
  ECONNRESET: "unavailable",
  ENOTCONN: "unavailable",
  EHOSTDOWN: "unavailable",
  EHOSTUNREACH: "unavailable",
  ENETDOWN: "unavailable",
  ENETUNREACH: "unavailable",
  ENETRESET: "unavailable",
  ESHUTDOWN: "unavailable",
  ENOLINK: "unavailable",
  ECOMM: "unavailable",
  EPROTO: "unavailable",
  EREMOTEIO: "unavailable",
  ETIME: "unavailable",
  ENOMEDIUM: "unavailable",
  EBADMSG: "unavailable",
  EUCLEAN: "unavailable",
};

/** Linux error numbers for which Node has no names. */
const LINUX: Readonly<Record<string, number>> = {
  ECOMM: 70,
  ESHUTDOWN: 108,
  EHOSTDOWN: 112,
  EUCLEAN: 117,
  EREMOTEIO: 121,
  ENOMEDIUM: 123,
  ENOKEY: 126,
  EKEYEXPIRED: 127,
  EKEYREVOKED: 128,
  EKEYREJECTED: 129,
};
const numbers = process.platform === "linux" ? { ...LINUX, ...constants.errno } : constants.errno;
const nameByNumber = new Map(Object.entries(numbers).map(([name, number]) => [-number, name]));

/** Awaits a system call. Its failure becomes a {@link StorageError} with the system error as `cause`. */
export function mapSystemErrors<T>(call: Promise<T>, codes?: SystemCodes): Promise<T> {
  return call.catch((error: unknown) => {
    throw toStorageError(error, codes);
  });
}

/** As {@link mapSystemErrors}, for a synchronous call. */
export function mapSystemErrorsSync<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Converts a system error to a {@link StorageError}. Returns anything else as it is. */
export function toStorageError(error: unknown, codes: SystemCodes = {}): unknown {
  const system = systemCode(error);
  if (isStorageError(error) || system === undefined) return error;
  const code = codes[system] ?? USUAL[system];
  return code === undefined ? error : new StorageError(code, (error as Error).message, { cause: error });
}

/** Awaits a call. Returns `undefined` if it fails with one of these system error codes. */
export function ignoreErrors<T>(call: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  });
}

/** Awaits a call. Replaces the code `from` of its {@link StorageError} with `to`. */
export function mapErrorCode<T>(call: Promise<T>, from: StorageErrorCode, to: StorageErrorCode): Promise<T> {
  return call.catch((error: unknown) => {
    if (!hasCode(error, from)) throw error;
    throw new StorageError(to, error.message, { cause: error });
  });
}

/** Awaits a call on a member. If it fails with `not-found`, its parent folder is missing. */
export function mapMissingParent<T>(call: Promise<T>): Promise<T> {
  return mapErrorCode(call, "not-found", "parent-missing");
}

/** Returns the system error code, such as `ENOENT`, of a file system error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("errno" in error)) return undefined;
  // libuv has no names for some errors, for example EDQUOT and ESTALE.
  return nameByNumber.get(Number(error.errno)) ?? ("code" in error ? String(error.code) : undefined);
}

/**
 * For `catch`: returns `undefined` if a {@link StorageError} says that the folder does not exist, else throws the
 * error.
 */
export function undefinedIfMissing(error: unknown): undefined {
  if (hasCode(error, "not-found", "not-a-folder")) return undefined;
  throw error;
}
