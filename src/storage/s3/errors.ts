import { StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import { parseResponse, textOf } from "./xml.ts";

/** An answer that was read to its end. */
export interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  /** Its body; empty for HEAD, and for one that is passed on. */
  readonly text: string;
  /** How many attempts it took: with more than one, what the request asks for may have been done before. */
  readonly attempts: number;
}

/** What codes of stores mean, where the status does not say it. */
const BY_CODE: ReadonlyMap<string, StorageErrorCode> = new Map([
  ["AccessDenied", "denied"],
  ["AllAccessDisabled", "denied"],
  ["EntityTooLarge", "too-large"],
  ["KeyTooLongError", "bad-name"],
  ["QuotaExceeded", "no-space"],
  ["XMinioStorageFull", "no-space"],
]);

const BY_STATUS: ReadonlyMap<number, StorageErrorCode> = new Map([
  [403, "denied"],
  [412, "precondition-failed"],
  [413, "too-large"],
  [507, "no-space"],
]);

/** What a store refuses for keys or clocks that are wrong: nothing that a client may be blamed for. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  "AuthorizationHeaderMalformed",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
  "TokenRefreshRequired",
]);

/** The code of an error, as `NoSuchKey`; empty where the answer has none, as those of HEAD. */
export function codeOf({ text }: Pick<S3Response, "text">): string {
  const root = text === "" ? undefined : parseResponse(text);
  return root?.name === "Error" ? toCode(textOf(root, "Code")) : "";
}

/** A code as it may stand in a log: texts of stores may quote keys and signatures. */
export function toCode(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : "";
}

/** The refusal that an answer amounts to; `what` was tried, as `PUT a/b`. */
export function toStorageError(response: Pick<S3Response, "status" | "text">, what: string): StorageError {
  const code = codeOf(response);
  const message = `${what}: the store answered ${response.status}${code === "" ? "" : ` ${code}`}`;
  return new StorageError(toErrorCode(response.status, code), message);
}

/** What a code of a store, or else a status, is to callers. */
export function toErrorCode(status: number, code: string): StorageErrorCode {
  if (OWN_FAULTS.has(code)) return "unavailable";
  return BY_CODE.get(code) ?? BY_STATUS.get(status) ?? "unavailable";
}

/** Whether an answer says that there is no such object, in a bucket that is there. */
export function isMissing(response: S3Response): boolean {
  return response.status === 404 && codeOf(response) !== "NoSuchBucket";
}

/** Whether an answer says that it did what was asked. */
export function isDone({ status }: S3Response): boolean {
  return status >= 200 && status < 300;
}
