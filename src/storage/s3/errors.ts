import { StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import type { StoreResponse } from "../object-store/http/client.ts";
import { childText, parseResponse } from "../object-store/http/xml.ts";

/** Meanings of error codes that differ from that of the status. */
const BY_CODE: ReadonlyMap<string, StorageErrorCode> = new Map([
  ["AccessDenied", "denied"],
  ["AllAccessDisabled", "denied"],
  ["EntityTooLarge", "too-large"],
  ["KeyTooLongError", "bad-name"],
  ["QuotaExceeded", "no-space"],
  ["XMinioAdminBucketQuotaExceeded", "no-space"],
  ["XMinioStorageFull", "no-space"],
]);

const BY_STATUS: ReadonlyMap<number, StorageErrorCode> = new Map([
  [403, "denied"],
  [412, "precondition-failed"],
  [413, "too-large"],
  [507, "no-space"],
]);

/**
 * Error codes for wrong keys or clocks of the service. Clients are not responsible for these, so they must not become
 * `denied`.
 */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  "AuthorizationHeaderMalformed",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
  "TokenRefreshRequired",
]);

/** Returns the error code of a response, such as `NoSuchKey`. Empty if it has none, as with HEAD. */
export function codeOf({ text }: Pick<StoreResponse, "text">): string {
  const root = text === "" ? undefined : parseResponse(text);
  return root?.name === "Error" ? toCode(childText(root, "Code")) : "";
}

/** Returns a code that is safe for the log, or the empty string. Texts of stores may quote keys and signatures. */
export function toCode(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : "";
}

/** Maps a response to an error. `what` describes the request, such as `PUT a/b`. */
export function toS3StorageError(response: Pick<StoreResponse, "status" | "text">, what: string): StorageError {
  const code = codeOf(response);
  const message = `${what}: the store responded ${response.status}${code === "" ? "" : ` ${code}`}`;
  return new StorageError(toErrorCode(response.status, code), message);
}

/** Maps an error code of a store, or else the status, to a storage error code. */
export function toErrorCode(status: number, code: string): StorageErrorCode {
  if (OWN_FAULTS.has(code)) return "unavailable";
  return BY_CODE.get(code) ?? BY_STATUS.get(status) ?? "unavailable";
}

/** Whether a response says that the object does not exist in an existing bucket. */
export function isMissing(response: StoreResponse): boolean {
  return response.status === 404 && codeOf(response) !== "NoSuchBucket";
}
