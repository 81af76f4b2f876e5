import { HttpError } from "../http/http-error.ts";
import { sha256Hex } from "../platform/sha256.ts";

/** A store's key for something secret or private: whoever reads the store sees the SHA-256 of `text` only. */
export function toStoreKey(kind: string, text: string): string {
  return `${kind}:${sha256Hex(text)}`;
}

/** Work on the store. @throws HttpError `unavailable` whatever the store fails with. */
export async function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HttpError("unavailable", "The session store is not available.", { "Retry-After": "1" }, { cause });
  }
}
