import { sha256 } from "@noble/hashes/sha2.js";

/** The SHA-256 of a text in UTF-8, as lower-case hexadecimal. */
export type Sha256 = (text: string) => string;

const NATIVE_MODULE = "node:crypto";

/** Where a runtime that has Node's modules hands them out without an import (Node 20.16, Deno 2, Bun). */
interface ModuleHost {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/** The part of `node:crypto` that is used (Node 20.12). */
interface NativeModule {
  readonly hash?: (algorithm: string, text: string, encoding: "hex") => string;
}

/**
 * Of few bytes, in this thread: `crypto.subtle` takes a turn in another one, which costs many times as much. The runtime's own where it
 * has one.
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
  try {
    const crypto = (globalThis as ModuleHost).process?.getBuiltinModule?.(NATIVE_MODULE) as NativeModule | undefined;
    const hash = crypto?.hash;
    if (typeof hash !== "function") return undefined;
    const native: Sha256 = (text) => hash("sha256", text, "hex");
    // Some runtimes have the name without the function behind it.
    return native("") === "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" ? native : undefined;
  } catch {
    return undefined;
  }
}
