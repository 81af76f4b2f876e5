import { StorageError, type StorageErrorCode } from "../../contracts/storage-adapter.ts";
import type { StoreResponse } from "../object-store/http/client.ts";

/** Meanings of error codes that differ from that of the status. */
const BY_CODE: ReadonlyMap<string, StorageErrorCode> = new Map([
  ["BlobImmutableDueToPolicy", "denied"],
  ["LeaseIdMissing", "denied"],
  ["BlockCountExceedsLimit", "too-large"],
  ["InvalidResourceName", "bad-name"],
  ["InvalidUri", "bad-name"],
  ["OutOfRangeInput", "bad-name"],
  ["BlobAlreadyExists", "precondition-failed"],
]);

const BY_STATUS: ReadonlyMap<number, StorageErrorCode> = new Map([
  [412, "precondition-failed"],
  [413, "too-large"],
  [507, "no-space"],
]);

/** Error codes of a request that a policy of the account refuses. Any other 403 is a fault of the key or the clock. */
const DENIED = /^(?:AuthorizationPermissionMismatch|AuthorizationProtocolMismatch|AuthorizationSourceIPMismatch)$/;

/** Returns the error code of a response, such as `BlobNotFound`. Empty if it has none. */
export function toAzureCode({ headers }: Pick<StoreResponse, "headers">): string {
  const code = headers.get("x-ms-error-code") ?? "";
  return /^\w{1,64}$/.test(code) ? code : "";
}

/** Maps a response to an error. `what` describes the request, such as `PUT a/b`. */
export function toAzureError(response: Pick<StoreResponse, "status" | "headers">, what: string): StorageError {
  const code = toAzureCode(response);
  const message = `${what}: the store responded ${response.status}${code === "" ? "" : ` ${code}`}`;
  const mapped = DENIED.test(code) ? "denied" : (BY_CODE.get(code) ?? BY_STATUS.get(response.status));
  return new StorageError(mapped ?? "unavailable", message);
}

/** Whether a response says that the blob does not exist in an existing container. */
export function isMissingBlob(response: StoreResponse): boolean {
  return response.status === 404 && /^(?:BlobNotFound|ResourceNotFound|)$/.test(toAzureCode(response));
}

/** Whether a change was refused because the blob at its key is not the expected one, or exists. */
export function isConditionRefusal(response: StoreResponse): boolean {
  const code = toAzureCode(response);
  return (
    (response.status === 412 && code !== "LeaseIdMissing") || code === "BlobAlreadyExists" || isMissingBlob(response)
  );
}
