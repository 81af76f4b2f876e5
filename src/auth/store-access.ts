import { HttpError } from "../http/http-error.ts";

/** A store's key for something secret or private: whoever reads the store sees the SHA-256 of `text` only. */
export async function toStoreKey(kind: string, text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `${kind}:${toHex(new Uint8Array(digest))}`;
}

/** Bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Work on the store. @throws HttpError `unavailable` whatever the store fails with. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HttpError("unavailable", "The session store is not available.", { "Retry-After": "1" }, { cause });
  }
}
