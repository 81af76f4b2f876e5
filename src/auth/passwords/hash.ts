import { argon2id } from "@noble/hashes/argon2.js";
import { scrypt } from "@noble/hashes/scrypt.js";
import { createHashQueue } from "./hash-queue.ts";

/** Creates and verifies password hashes, as PHC strings. */
export interface PasswordHasher {
  /**
   * Hashes a password with a new random salt. Rejects with `TypeError` when the password is empty, longer than 1,024
   * bytes, or contains NUL; with {@link HttpError} `unavailable` when too many computations wait already. `address`: of
   * the client, if it is known. Computations wait in turn by its network.
   */
  hash(password: string, address?: string): Promise<string>;
  /**
   * Returns whether a password matches a PHC string. A password that `hash` rejects does not match, and costs no
   * computation. Rejects with `TypeError` when the string is not one of scrypt or argon2id, or would cost more than 256
   * MiB or about 10 seconds; with {@link HttpError} `unavailable` when too many computations wait already. For
   * `address` see `hash`.
   */
  verify(password: string, phc: string, address?: string): Promise<boolean>;
}

/** Options of {@link createPasswordHasher}. */
export interface PasswordHasherOptions {
  /** Computes scrypt. Default: in JavaScript, on the calling thread. */
  readonly scrypt?: KeyDerivation<ScryptParameters>;
  /** Computes argon2id. Default: in JavaScript, on the calling thread. */
  readonly argon2id?: KeyDerivation<Argon2Parameters>;
  /** How many computations run at a time. Default: 1, because they share the calling thread. */
  readonly maxConcurrent?: number;
  /**
   * How many computations may wait; further ones are refused. A network has half of them, and may always add its first
   * one. Default: 64.
   */
  readonly maxWaiting?: number;
}

/** Derives `length` bytes from a password. */
export type KeyDerivation<Parameters> = (
  password: Uint8Array,
  salt: Uint8Array,
  length: number,
  parameters: Parameters,
) => Promise<Uint8Array>;

/** The cost of scrypt (RFC 7914 2); `ln` is the binary logarithm of N. */
export interface ScryptParameters {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** The cost of argon2id (RFC 9106 3.1): `m` is the memory in KiB, `t` the passes, `p` the lanes. */
export interface Argon2Parameters {
  readonly m: number;
  readonly t: number;
  readonly p: number;
}

/** A parsed PHC string whose cost is within the limits. */
export type PasswordHash = SaltedHash<"scrypt", ScryptParameters> | SaltedHash<"argon2id", Argon2Parameters>;

interface SaltedHash<Id, Parameters> {
  readonly id: Id;
  readonly parameters: Parameters;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** The length limit of passwords as UTF-8. Longer ones are refused before they are hashed. */
export const maxPasswordBytes = 1024;

/**
 * The cost of new hashes: one of the five settings of scrypt that OWASP recommends as equally strong, with 8 MiB. The
 * next one (ln=14, p=5) takes the same time, but glibc keeps 16 MiB for each thread of Node's pool: 67 MB more resident
 * memory instead of 34.
 */
const newHashCost: ScryptParameters = { ln: 13, r: 8, p: 10 };
const saltBytes = 16;
const hashBytes = 32;

const maxMemoryKibibytes = 256 * 1024;
/** The limit of `N * r * p`: about 13 times the cost of our own hashes, 5 seconds in JavaScript. */
const maxScryptCost = 2 ** 23;
/** The limit of memory times passes, in KiB: about 10 seconds in JavaScript. */
const maxArgon2Cost = 2 ** 20;

const scryptPattern = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const argon2Pattern =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,6}),t=([1-9]\d{0,3}),p=([1-9]\d{0,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Creates a hasher. It creates `$scrypt$` strings (16 random bytes of salt, `ln=13,r=8,p=10`), and verifies both
 * `$scrypt$` and `$argon2id$` strings.
 *
 * Throws `TypeError` if `maxConcurrent` or `maxWaiting` is not a valid number.
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const derivations = { scrypt: options.scrypt ?? portableScrypt, argon2id: options.argon2id ?? portableArgon2id };
  const queue = createHashQueue(options.maxConcurrent ?? 1, options.maxWaiting ?? 64);

  async function hash(password: string, address?: string): Promise<string> {
    const bytes = toPasswordBytes(password);
    if (bytes === undefined) throw new TypeError(`A password must have 1 to ${maxPasswordBytes} bytes and no NUL.`);
    const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
    const derived = await queue.run(address, () => derivations.scrypt(bytes, salt, hashBytes, newHashCost));
    const { ln, r, p } = newHashCost;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${toBase64(salt)}$${toBase64(derived)}`;
  }

  async function verify(password: string, phc: string, address?: string): Promise<boolean> {
    const expected = parsePasswordHash(phc);
    const bytes = toPasswordBytes(password);
    if (bytes === undefined) return false;
    const derived = await queue.run(address, () =>
      expected.id === "scrypt"
        ? derivations.scrypt(bytes, expected.salt, expected.hash.length, expected.parameters)
        : derivations.argon2id(bytes, expected.salt, expected.hash.length, expected.parameters),
    );
    return equalBytes(derived, expected.hash);
  }

  return { hash, verify };
}

/**
 * Returns whether a text looks like a password hash of any kind (`$name$...`). Such a text never counts as a plain-text
 * password: if it did, an attacker who has seen the hash could log in with it.
 */
export function isPasswordHash(text: string): boolean {
  return /^\$[A-Za-z0-9-]+\$/.test(text);
}

/**
 * Parses a PHC string. Throws `TypeError`, which does not quote the text, when the text is not exactly a `$scrypt$` or
 * `$argon2id$` (version 19) string, or would cost more than 256 MiB or about 10 seconds to verify.
 */
export function parsePasswordHash(text: string): PasswordHash {
  const scryptMatch = scryptPattern.exec(text);
  if (scryptMatch !== null) {
    const [ln, r, p] = toNumbers(scryptMatch);
    const memoryKibibytes = (2 ** ln * r) / 8;
    if (memoryKibibytes > maxMemoryKibibytes || 2 ** ln * r * p > maxScryptCost) throw tooCostly();
    if (ln >= 16 * r) throw new TypeError("The password hash has a larger N than its r allows (RFC 7914 2).");
    return { id: "scrypt", parameters: { ln, r, p }, ...parseSaltAndHash(scryptMatch) };
  }
  const argon2Match = argon2Pattern.exec(text);
  if (argon2Match !== null) {
    const [m, t, p] = toNumbers(argon2Match);
    if (m < 8 * p) throw new TypeError("The password hash has less memory than its lanes need.");
    if (m > maxMemoryKibibytes || m * t > maxArgon2Cost) throw tooCostly();
    return { id: "argon2id", parameters: { m, t, p }, ...parseSaltAndHash(argon2Match) };
  }
  throw new TypeError("The password hash is not a PHC string of scrypt or argon2id.");
}

/** Compares two byte strings in a time that depends only on their lengths. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  return difference === 0;
}

async function portableScrypt(password: Uint8Array, salt: Uint8Array, length: number, cost: ScryptParameters) {
  await yieldToOtherTasks();
  return scrypt(password, salt, { N: 2 ** cost.ln, r: cost.r, p: cost.p, dkLen: length });
}

async function portableArgon2id(password: Uint8Array, salt: Uint8Array, length: number, cost: Argon2Parameters) {
  await yieldToOtherTasks();
  return argon2id(password, salt, { ...cost, dkLen: length });
}

/**
 * Lets timers and sockets run. The asynchronous functions of @noble/hashes wait for microtasks only: with them a queue
 * of logins would block the event loop until all of them are done.
 */
function yieldToOtherTasks(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * NUL is refused: scrypt's HMAC pads the password with zeros (RFC 2104 2), so "secret" and "secret\0" would be equal.
 */
function toPasswordBytes(password: string): Uint8Array | undefined {
  if (password === "" || password.length > maxPasswordBytes || password.includes("\0")) return undefined;
  const bytes = new TextEncoder().encode(password);
  return bytes.length > maxPasswordBytes ? undefined : bytes;
}

function toNumbers(match: RegExpExecArray): [number, number, number] {
  return [Number(match[1]), Number(match[2]), Number(match[3])];
}

function parseSaltAndHash(match: RegExpExecArray): { salt: Uint8Array; hash: Uint8Array } {
  return { salt: parseBase64(match[4] ?? "", 8), hash: parseBase64(match[5] ?? "", 16) };
}

function tooCostly(): TypeError {
  return new TypeError("The password hash would cost too much memory or time to verify.");
}

/** Encodes as Base64 without padding, the form in PHC strings. */
function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("=", "");
}

function parseBase64(text: string, minBytes: number): Uint8Array {
  if (text.length > 86 || text.length % 4 === 1)
    throw new TypeError("The password hash has a salt or hash of odd length.");
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // Not canonical if unused bits are set: the text was changed or cut.
  if (toBase64(bytes) !== text) throw new TypeError("The password hash is not canonical Base64.");
  if (bytes.length < minBytes)
    throw new TypeError(`The password hash has a salt or hash of less than ${minBytes} bytes.`);
  return bytes;
}
