import { sha256 } from "@noble/hashes/sha2.js";
import { findRuntimeFunction } from "./builtin-module.ts";

/** Returns the SHA-256 of a text in UTF-8, in lower-case hexadecimal. */
export type Sha256 = (text: string) => string;

/** `hash` of `node:crypto` (Node 20.12). */
type NativeHash = (algorithm: string, text: string, encoding: "hex") => string;

/** The SHA-256 of an empty text. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/**
 * Hashes a short text synchronously: `crypto.subtle` uses another thread, which costs many times as much. Uses the
 * runtime's own function if there is one.
 */
export const sha256Hex: Sha256 = findNative() ?? sha256Portable;

/** SHA-256 in JavaScript. */
export function sha256Portable(text: string): string {
  return toHex(sha256(new TextEncoder().encode(text)));
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

function findNative(): Sha256 | undefined {
  const hash = findRuntimeFunction<NativeHash>("node:crypto", "hash", (found) => found("sha256", "", "hex") === EMPTY);
  return hash && ((text) => hash("sha256", text, "hex"));
}
