import { toHex } from "./sha256.ts";

/** Returns random bytes as lower-case hexadecimal. With 16 bytes, which are 128 bits, it cannot be guessed. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
