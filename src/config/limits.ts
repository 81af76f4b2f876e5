import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { isCount, isObject, isPositive, isStore } from "./checks.ts";

/** The option `limits` of `createFileService`, which throws an `OptionError` if one is wrong. */
export interface LimitOptions {
  /**
   * The size of one file that is written, in bytes; 0 for no limit. Accounts and groups may have smaller limits,
   * `max_file_bytes`. A larger file is 413: before its content is read, if the client announces the size. Default: 0.
   */
  readonly maxFileBytes?: number;
  /**
   * The number of failed logins within the window after which further logins are rejected without a check of their
   * credentials (CONTRACT 6.6): those from one network, and those by one user name from one network. By one user name
   * from all networks together it is ten times as many. 1 to 1,000. Default: 10.
   */
  readonly loginAttempts?: number;
  /** How long a failed login counts, in seconds. Default: 600. */
  readonly loginWindowSeconds?: number;
  /**
   * Where failed logins are counted. Processes with the same store count together. The count is exact within one
   * process; if logins fail in several processes at the same moment, the store may count only one. Default:
   * `session.store`.
   */
  readonly loginStore?: KeyValueStore;
  /**
   * The size of the body of a login or a password change, in bytes: anyone may send a login, and the server parses it.
   * More is 413. 1,024 to 1,048,576; the longest passwords need 16 KiB. Default: 16,384.
   */
  readonly maxLoginBytes?: number;
  /**
   * The size of a JSON body of commands, in bytes (CONTRACT 4.5). More is 413. 1,024 to 16,777,216. Default: 1,048,576.
   */
  readonly maxJsonBytes?: number;
  /**
   * The number of commands in one request, and of targets in all of them (CONTRACT 4.5). More are 400, and no command
   * is run. 1 to 10,000. Default: 1,000.
   */
  readonly maxCommands?: number;
  /**
   * The number of parts in a form: fields, selected members and files. More are 400; the files before the excess part
   * are stored. 1 to 10,000. Default: 1,000.
   */
  readonly maxFormParts?: number;
  /**
   * The size of the headers of one part of a form, in bytes; they hold the name of the file. More is 400. 256 to
   * 65,536. Default: 16,384.
   */
  readonly maxPartHeaderBytes?: number;
  /**
   * The size of all fields of a form that are not files, in bytes. More is 413. 1,024 to 16,777,216. Default:
   * 1,048,576.
   */
  readonly maxFormFieldBytes?: number;
  /**
   * The number of concurrent transfers of an account. These count:
   *
   * - uploads by PUT or form, from start to response;
   * - commands and logins of more than 16 KiB, one for each 64 KiB that have arrived, until the response;
   * - each further 64 KiB of a form's fields and names;
   * - copies, changes of properties, and moves that have to read content, until the response;
   * - downloads of files and archives, until their last byte is read. A file that is small enough for one read counts
   *   only until the response;
   * - listings, searches, and lists of the trash and of versions, if they are longer than 64 KiB.
   *
   * Other listings do not count.
   *
   * One more transfer is 503 with `Retry-After`, before its body is read or the storage is used. Two cases differ: a
   * GET with conditions is evaluated first, and commands are read until the limit is reached. Each process counts its
   * own transfers. 0 for no limit, up to 1,000,000. Default: 256.
   */
  readonly transfersPerAccount?: number;
  /**
   * The number of concurrent transfers from one address: the peer's, or the one in `clientForwardedHeader`. IPv6
   * addresses are compared by their first 64 bits. Without that header all clients of a proxy have one address. 0 for
   * no limit, up to 1,000,000. Default: 1,024.
   */
  readonly transfersPerAddress?: number;
  /**
   * The number of concurrent transfers by one link, in place of {@link LimitOptions.transfersPerAccount}: visitors of a
   * link cannot use up what its account may do. 0 for no limit, up to 1,000,000. Default: 64.
   */
  readonly transfersPerLink?: number;
  /**
   * The memory for folder pages and archives of an account, in bytes. A page holds all members of its folder, sorted,
   * until its last byte is read. It counts 512 KiB, and for each member 300 bytes and 2 bytes per UTF-16 code unit of
   * the name: about what Node needs. An archive holds a record of each member until its last byte is read. It counts
   * 64 KiB, and for each member 400 bytes and 3 bytes per UTF-16 code unit of the path. More is 503 with `Retry-After`,
   * or breaks off a running archive; a single page or archive is always served. Each process counts its own. 0
   * for no limit. Default: 134,217,728 (128 MiB).
   */
  readonly pageBytesPerAccount?: number;
  /**
   * The memory for folder pages and archives of one address, which is the one of
   * {@link LimitOptions.transfersPerAddress}. 0 for no limit. Default: 201,326,592 (192 MiB).
   */
  readonly pageBytesPerAddress?: number;
  /**
   * The memory for folder pages and archives of all accounts and addresses together, in bytes. 0 for no limit. Default:
   * 268,435,456 (256 MiB).
   */
  readonly pageBytesPerProcess?: number;
  /**
   * The number of unfinished resumable uploads of an account. One more is 507. The storage counts them, so all
   * processes count together. 0 for no limit, up to 1,000,000. Default: 1,000.
   */
  readonly uploadsPerAccount?: number;
  /**
   * The size of all unfinished resumable uploads of an account, in bytes. Each counts with its announced length, or
   * with what has arrived if no length is known. One more upload beyond it is 507. 0 for no limit. Default: 0.
   */
  readonly uploadBytesPerAccount?: number;
  /** The number of members that a search returns. What it leaves out is `truncated`. 1 to 100,000. Default: 10,000. */
  readonly searchResults?: number;
  /** The number of members that a search looks at. 1 to 10,000,000. Default: 100,000. */
  readonly searchMembers?: number;
  /** How long a search goes on, in seconds, with the time that it waits for others. 1 to 600. Default: 10. */
  readonly searchSeconds?: number;
}

/** The limits of a service, checked and complete. */
export interface Limits extends Required<Omit<LimitOptions, "loginStore">> {
  /** Absent: the store of the sessions. */
  readonly loginStore: KeyValueStore | undefined;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** The minimum, the maximum and the default of each limit that is a whole number. */
const NUMBERS = {
  loginAttempts: [1, 1000, 10],
  maxLoginBytes: [KIBIBYTE, MEBIBYTE, 16 * KIBIBYTE],
  maxJsonBytes: [KIBIBYTE, 16 * MEBIBYTE, MEBIBYTE],
  maxCommands: [1, 10_000, 1000],
  maxFormParts: [1, 10_000, 1000],
  maxPartHeaderBytes: [256, 64 * KIBIBYTE, 16 * KIBIBYTE],
  maxFormFieldBytes: [KIBIBYTE, 16 * MEBIBYTE, MEBIBYTE],
  transfersPerAccount: [0, 1_000_000, 256],
  transfersPerAddress: [0, 1_000_000, 1024],
  transfersPerLink: [0, 1_000_000, 64],
  pageBytesPerAccount: [0, 2 ** 40, 128 * MEBIBYTE],
  pageBytesPerAddress: [0, 2 ** 40, 192 * MEBIBYTE],
  pageBytesPerProcess: [0, 2 ** 40, 256 * MEBIBYTE],
  uploadsPerAccount: [0, 1_000_000, 1000],
  uploadBytesPerAccount: [0, Number.MAX_SAFE_INTEGER, 0],
  searchResults: [1, 100_000, 10_000],
  searchMembers: [1, 10_000_000, 100_000],
  searchSeconds: [1, 600, 10],
} as const satisfies Partial<Record<keyof LimitOptions, readonly [least: number, most: number, otherwise: number]>>;

/** Checks the limits and fills in their defaults. @throws OptionError */
export function toLimits(limits: LimitOptions): Limits {
  const maxFileBytes = toMaxFileBytes(limits);
  const { loginWindowSeconds = 600, loginStore } = limits;
  checkOption(isPositive(loginWindowSeconds), "limits.loginWindowSeconds", "a positive number");
  checkOption(isStore(loginStore), "limits.loginStore", "a key-value store");
  const numbers = Object.entries(NUMBERS).map(([name, [least, most, otherwise]]) => {
    const { [name as keyof typeof NUMBERS]: value = otherwise } = limits;
    const isWithin = Number.isSafeInteger(value) && value >= least && value <= most;
    checkOption(isWithin, `limits.${name}`, `a whole number from ${least} to ${most}`);
    return [name, value] as const;
  });
  return {
    ...(Object.fromEntries(numbers) as Record<keyof typeof NUMBERS, number>),
    maxFileBytes,
    loginWindowSeconds,
    loginStore,
  };
}

/** Checks the size limit of a file; returns 0 if there is none. @throws OptionError */
export function toMaxFileBytes(limits: Pick<LimitOptions, "maxFileBytes">): number {
  checkOption(isObject(limits), "limits", "an object");
  const { maxFileBytes = 0 } = limits;
  checkOption(maxFileBytes === 0 || isCount(maxFileBytes), "limits.maxFileBytes", "a whole number of bytes, or 0");
  return maxFileBytes;
}
