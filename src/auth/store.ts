import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import { sha256Hex } from "../platform/sha256.ts";

const RETRY = { "Retry-After": "1" };

/** Returns the store's key for a secret or private `text`: readers of the store see its SHA-256 only. */
export function toStoreKey(kind: string, text: string): string {
  return `${kind}:${sha256Hex(text)}`;
}

/** Runs work on the store of sessions. @throws HttpError `unavailable` when the work fails, whatever the error. */
export async function mapSessionStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw sessionStoreUnavailable(cause);
  }
}

/** The error of a request that needs the store of sessions when that fails. */
export function sessionStoreUnavailable(cause: unknown): HttpError {
  return createError("session-store-unavailable", { headers: RETRY, cause });
}

/** The error of a request that needs the store of failed logins when that fails. */
export function loginStoreUnavailable(cause: unknown): HttpError {
  return createError("login-store-unavailable", { headers: RETRY, cause });
}
