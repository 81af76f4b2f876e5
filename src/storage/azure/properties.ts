import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { isSuccessful } from "../object-store/http/client.ts";
import { isKey, type ObjectLocation, toPropertiesKey } from "../object-store/keys.ts";
import type { TextObject, TextObjects } from "../object-store/text-objects.ts";
import { changeBlob } from "./change.ts";
import { type AzureClient, type AzureRequest, describeAzureRequest } from "./client.ts";
import { isMissingBlob, toAzureError } from "./errors.ts";
import { headBlob, toBlobVersion, WRITER } from "./head.ts";

/** Whether what is at a location has properties. */
export async function hasBlobProperties(client: AzureClient, location: ObjectLocation): Promise<boolean> {
  const key = toPropertiesKey(location);
  return isKey(key) && ((await headBlob(client, key))?.size ?? 0) > 0;
}

/** Reads and changes blobs that hold JSON. */
export function createTextBlobs(client: AzureClient): TextObjects {
  async function readObject(key: string): Promise<TextObject | undefined> {
    const request: AzureRequest = { method: "GET", key };
    const response = await client.call(request);
    if (isMissingBlob(response)) return undefined;
    if (!isSuccessful(response)) throw toAzureError(response, describeAzureRequest(request));
    return { text: response.text, etag: toBlobVersion(response.headers).etag };
  }

  async function writeObject(
    key: string,
    text: string,
    current: TextObject | undefined,
  ): Promise<TextObject | undefined> {
    const writer = crypto.randomUUID();
    const own = { "x-ms-blob-type": "BlockBlob", "x-ms-blob-content-type": "application/json", [WRITER]: writer };
    const body = new TextEncoder().encode(text);
    try {
      const { etag } = await changeBlob(client, {
        key,
        writer,
        conditions: current === undefined ? { ifNoneMatch: "*" } : { ifMatch: [current.etag] },
        ...(current === undefined && { isKnownToBeFree: true }),
        what: `PUT ${key}`,
        send: (headers) => client.call({ method: "PUT", key, body, headers: { ...headers, ...own } }),
      });
      if (etag === "") throw new StorageError("unavailable", `PUT ${key}: the response has no entity-tag`);
      return { text, etag };
    } catch (error) {
      if (hasCode(error, "precondition-failed")) return undefined;
      throw error;
    }
  }

  return { readObject, writeObject };
}
