import { HttpError } from "../http/http-error.ts";
import { sha256Hex } from "../platform/sha256.ts";

/** Returns the store's key for a secret or private `text`: readers of the store see its SHA-256 only. */
export function toStoreKey(kind: string, text: string): string {
  return `${kind}:${sha256Hex(text)}`;
}

/** Runs work on the store. @throws HttpError `unavailable` when the work fails, whatever the error. */
export async function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HttpError("unavailable", "The session store is not available.", { "Retry-After": "1" }, { cause });
  }
}
