import { changeObject, type ObjectChange } from "../object-store/http/change-object.ts";
import type { AzureClient } from "./client.ts";
import { isConditionRefusal, toAzureError } from "./errors.ts";
import { type AzureHead, type AzureVersion, headBlob, toBlobVersion } from "./head.ts";

/** What a removal leaves. */
const NONE: AzureVersion = { modified: new Date(0), etag: "" };

/**
 * Changes a key if its blob meets the conditions, and returns the version that the change has made.
 * @throws StorageError `precondition-failed`, or the error that the store's response maps to.
 */
export async function changeBlob(client: AzureClient, change: ObjectChange): Promise<AzureVersion> {
  const { response, found } = await changeObject<AzureHead>(change, {
    random: client.settings.random,
    look: (key, signal) => headBlob(client, key, signal),
    toHeaders: (current) => (current === undefined ? { "if-none-match": "*" } : { "if-match": current.etag }),
    isConditionRefusal,
    toError: toAzureError,
  });
  return response === undefined ? (found ?? NONE) : toBlobVersion(response.headers);
}
