import { sha256Hex } from "../platform/sha256.ts";

/** Returns the store's key for a secret or private `text`: readers of the store see its SHA-256 only. */
export function toStoreKey(kind: string, text: string): string {
  return `${kind}:${sha256Hex(text)}`;
}
