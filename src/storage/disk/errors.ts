import { constants } from "node:os";
import { isStorageError, StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";

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
  // The file system cannot do this, or its folder's key is not there: it will not be otherwise in a moment.
  ENOTSUP: "denied",
  EOPNOTSUPP: "denied",
  ENOSYS: "denied",
  ENOKEY: "denied",
  EKEYEXPIRED: "denied",
  EKEYREVOKED: "denied",
  EKEYREJECTED: "denied",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
  // The folder has as many folders as it may.
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
  // The same by its other name.
  EWOULDBLOCK: "unavailable",
  EINTR: "unavailable",
  ECANCELED: "unavailable",
  EDEADLK: "unavailable",
  ENOLCK: "unavailable",
  ENOBUFS: "unavailable",
  // A drive of the network, or of the user's, that is away; a damaged one.
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

/** Linux has numbers for which Node has no names. */
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

/** The result of a system call; its failure as a {@link StorageError} with the system's as `cause`. */
export async function mapSystemErrors<T>(call: Promise<T>, codes?: SystemCodes): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toStorageError(error, codes);
  }
}

/** The result of a system call that is made at once, or its failure, as above. */
export function mapSystemErrorsSync<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toStorageError(error);
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
export async function ignoreErrors<T>(call: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** The result of a call whose {@link StorageError} with the code `from` means `to` here. */
export async function mapErrorCode<T>(call: Promise<T>, from: StorageErrorCode, to: StorageErrorCode): Promise<T> {
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
