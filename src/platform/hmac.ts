import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { findRuntimeFunction } from "./builtin-module.ts";
import { toHex } from "./sha256.ts";

/** Returns the HMAC-SHA-256 of a text in UTF-8, in lower-case hexadecimal. */
export type Hmac = (text: string) => string;

/** `hash` of `node:crypto` (Node 20.12). */
type NativeHash = (algorithm: string, bytes: Uint8Array, encoding: "hex" | "latin1") => string;

/** The SHA-256 of no bytes. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Sizes of SHA-256 in bytes. */
const [BLOCK, DIGEST] = [64, 32];
/** Up to this number of bytes a text is written into a buffer that is used again. */
const MAX_SHORT = 1024;

const native = findRuntimeFunction<NativeHash>("node:crypto", "hash", (hash) => {
  const bytes = Uint8Array.from(hash("sha256", new Uint8Array(), "latin1"), (character) => character.charCodeAt(0));
  return hash("sha256", new Uint8Array(), "hex") === EMPTY && toHex(bytes) === EMPTY;
});

/**
 * Creates an HMAC with a random key of its own, which never leaves the function: a text cannot be found by trying
 * texts. It is synchronous, as `sha256Hex` is. The key is made at first use, because workerd forbids random numbers
 * while modules load.
 */
export function createHmac(): Hmac {
  let toMac: Hmac | undefined;
  return (text) => {
    toMac ??= createKeyedHmac(crypto.getRandomValues(new Uint8Array(32)));
    return toMac(text);
  };
}

/** The HMAC with a key of at most 64 bytes, by the runtime's own hash if there is one. */
export function createKeyedHmac(key: Uint8Array): Hmac {
  return native === undefined ? createPortableHmac(key) : createNativeHmac(key, native);
}

/**
 * HMAC by its definition (RFC 2104 2). `createHmac` of `node:crypto` makes an object for each text, which the garbage
 * collector has to finalize: under load that takes longer than the hash.
 */
function createNativeHmac(key: Uint8Array, hash: NativeHash): Hmac {
  const encoder = new TextEncoder();
  const inner = pad(key, 0x36, MAX_SHORT);
  const outer = pad(key, 0x5c, DIGEST);

  return (text) => {
    const bytes = 3 * text.length <= MAX_SHORT ? inner : pad(key, 0x36, 3 * text.length);
    const end = BLOCK + encoder.encodeInto(text, bytes.subarray(BLOCK)).written;
    const digest = hash("sha256", bytes.subarray(0, end), "latin1");
    // The text may be a secret.
    bytes.fill(0, BLOCK, end);
    for (let index = 0; index < DIGEST; index += 1) outer[BLOCK + index] = digest.charCodeAt(index);
    return hash("sha256", outer, "hex");
  };
}

/** A block of the key and a byte, with room after it. */
function pad(key: Uint8Array, byte: number, room: number): Uint8Array {
  const padded = new Uint8Array(BLOCK + room);
  padded.fill(byte, 0, BLOCK);
  for (const [index, own] of key.entries()) padded[index] = own ^ byte;
  return padded;
}

/** HMAC-SHA-256 in JavaScript. The key is hashed once. */
export function createPortableHmac(key: Uint8Array): Hmac {
  const keyed = hmac.create(sha256, key);
  return (text) => toHex(keyed.clone().update(new TextEncoder().encode(text)).digest());
}
