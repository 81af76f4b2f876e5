import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { findRuntimeFunction } from "./builtin-module.ts";
import { toHex } from "./sha256.ts";

/** Returns the HMAC-SHA-256 of a text in UTF-8, in lower-case hexadecimal. */
export type Hmac = (text: string) => string;

/** `createHmac` of `node:crypto`. */
type NativeHmac = (algorithm: string, key: Uint8Array) => { update(text: string): { digest(encoding: "hex"): string } };

/** The HMAC-SHA-256 of an empty text by an empty key. */
const EMPTY = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";

const native = findRuntimeFunction<NativeHmac>(
  "node:crypto",
  "createHmac",
  (create) => create("sha256", new Uint8Array()).update("").digest("hex") === EMPTY,
);

/**
 * Creates an HMAC with a random key of its own, which never leaves the function: nobody can find a text by trying
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

function createKeyedHmac(key: Uint8Array): Hmac {
  return native === undefined ? createPortableHmac(key) : (text) => native("sha256", key).update(text).digest("hex");
}

/** HMAC-SHA-256 in JavaScript. The key is hashed once. */
export function createPortableHmac(key: Uint8Array): Hmac {
  const keyed = hmac.create(sha256, key);
  return (text) => toHex(keyed.clone().update(new TextEncoder().encode(text)).digest());
}
