import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { isCount, isObject, isPositive, isStore } from "./checks.ts";

/** The option `limits`: how much is taken of anybody. A wrong value makes `createFileService` throw a `TypeError` that names it. */
export interface LimitOptions {
  /**
   * What one file may hold at most that is written, in bytes; 0 for no limit. Accounts and groups may have smaller ones, `max_file_bytes`.
   * More is 413, before its content is read where it is announced. Default: 0.
   */
  readonly maxFileBytes?: number;
  /**
   * So many failed logins within the window, by one user name or from one peer address, and further ones are refused unheard (CONTRACT 6.6).
   * 1 to 1,000. Default: 10.
   */
  readonly loginAttempts?: number;
  /** How long a failed login counts. Default: 600. */
  readonly loginWindowSeconds?: number;
  /**
   * Where failed logins are counted: processes on one store count together. They are counted exactly within a process; of failures in several
   * at the same moment the store may keep one. Default: `session.store`.
   */
  readonly loginStore?: KeyValueStore;
  /**
   * What the body of a login may hold, which anybody may have parsed, and that of a change of password, in bytes. More is 413. 1,024 to 1,048,576; below 16 KiB
   * the longest passwords have no room in it. Default: 16,384.
   */
  readonly maxLoginBytes?: number;
  /** What a JSON body of commands may hold, in bytes (CONTRACT 4.5). More is 413. 1,024 to 16,777,216. Default: 1,048,576. */
  readonly maxJsonBytes?: number;
  /** How many commands one request may have, and how many targets in all (CONTRACT 4.5). More are 400, and nothing is done. 1 to 10,000. Default: 1,000. */
  readonly maxCommands?: number;
  /** How many parts a form may have: fields, selected members and files. More are 400; files before the last part that counts are stored. 1 to 10,000. Default: 1,000. */
  readonly maxFormParts?: number;
  /** What the head of one part of a form may hold, its file's name among it, in bytes. More is 400. 256 to 65,536. Default: 16,384. */
  readonly maxPartHeaderBytes?: number;
  /** What the fields of a form that are no files may hold together, in bytes. More is 413. 1,024 to 16,777,216. Default: 1,048,576. */
  readonly maxFormFieldBytes?: number;
  /**
   * So many transfers an account may have under way at a time: uploads by PUT or by a form, and commands of more than 16 KiB (one for each 64 KiB that have come), from their begin to their answer, and downloads of
   * files and archives until their last byte is read. What is small enough to be read at once is no transfer any more when it is answered, and listings are none. One more is 503 with
   * `Retry-After`, before its body is read or the storage is asked, but for a GET with conditions, which is asked for what it comes to, and for commands, which are read as far as there are places left. Each process counts by itself. 0 for any number. Default: 256.
   */
  readonly transfersPerAccount?: number;
  /**
   * The same for one address: the peer's, or the client's that `clientForwardedHeader` tells; of IPv6 its first 64 bits count. Behind a proxy
   * without that header all clients are one. 0 for any number. Default: 1,024.
   */
  readonly transfersPerAddress?: number;
  /**
   * So many bytes may be held at a time for the pages of an account, whose members are sorted, until the last byte of each is read. A page counts for 512 KiB, and for each of its members
   * 300 bytes and two for each UTF-16 code unit of its name, which is about what it takes in Node; one alone is always let in. More is 503 with `Retry-After`. Each process counts by itself. 0 for
   * any number. Default: 134,217,728 (128 MiB).
   */
  readonly pageBytesPerAccount?: number;
  /** The same for one address, as with {@link LimitOptions.transfersPerAddress}. Default: 536,870,912 (512 MiB). */
  readonly pageBytesPerAddress?: number;
}

/** The limits of a service, checked and complete. */
export interface Limits extends Required<Omit<LimitOptions, "loginStore">> {
  /** Absent: that of the sessions. */
  readonly loginStore: KeyValueStore | undefined;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** The least, the most and the usual value of each limit that is a whole number. */
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
  pageBytesPerAccount: [0, 2 ** 40, 128 * MEBIBYTE],
  pageBytesPerAddress: [0, 2 ** 40, 512 * MEBIBYTE],
} as const satisfies Partial<Record<keyof LimitOptions, readonly [least: number, most: number, usual: number]>>;

/**
 * Checks the limits and fills in their defaults.
 * @throws TypeError naming the option that is wrong.
 */
export function toLimits(limits: LimitOptions): Limits {
  const maxFileBytes = toMaxFileBytes(limits);
  const { loginWindowSeconds = 600, loginStore } = limits;
  checkOption(isPositive(loginWindowSeconds), "limits.loginWindowSeconds", "a positive number");
  checkOption(isStore(loginStore), "limits.loginStore", "a key-value store");
  const numbers = Object.entries(NUMBERS).map(([name, [least, most, usual]]) => {
    const { [name as keyof typeof NUMBERS]: value = usual } = limits;
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

/**
 * Checks the limit of a file's size among the limits; 0 where there is none.
 * @throws TypeError naming the option that is wrong.
 */
export function toMaxFileBytes(limits: Pick<LimitOptions, "maxFileBytes">): number {
  checkOption(isObject(limits), "limits", "an object");
  const { maxFileBytes = 0 } = limits;
  checkOption(maxFileBytes === 0 || isCount(maxFileBytes), "limits.maxFileBytes", "a whole number of bytes, or 0");
  return maxFileBytes;
}
