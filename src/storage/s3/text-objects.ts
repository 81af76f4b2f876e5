import { hasCode } from "../../contracts/storage-adapter.ts";
import { isSuccessful, type StoreRequest } from "../object-store/http/client.ts";
import { toEtag } from "../object-store/object-entry.ts";
import type { TextObject, TextObjects } from "../object-store/text-objects.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { WRITER_HEADER } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { headObject } from "./head.ts";

/** Reads and changes objects that hold JSON. */
export function createS3TextObjects(client: S3Client, support: S3ConditionSupport): TextObjects {
  async function readObject(key: string): Promise<TextObject | undefined> {
    const request: StoreRequest = { method: "GET", key };
    const response = await client.call(request);
    if (isMissing(response)) return undefined;
    if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
    return { text: response.text, etag: toEtag(response.headers.get("etag") ?? "") };
  }

  async function writeObject(
    key: string,
    text: string,
    current: TextObject | undefined,
  ): Promise<TextObject | undefined> {
    const writer = crypto.randomUUID();
    const headers = { "content-type": "application/json", [WRITER_HEADER]: writer };
    const body = new TextEncoder().encode(text);
    try {
      const response = await changeConditionally(client, support, {
        kind: "put",
        key,
        writer,
        conditions: current === undefined ? { ifNoneMatch: "*" } : { ifMatch: [current.etag] },
        // Without conditions the look just before is all there is.
        ...(current === undefined && support.sent.has("put") && { isKnownToBeFree: true }),
        what: `PUT ${key}`,
        send: (conditions) => client.call({ method: "PUT", key, body, headers: { ...conditions, ...headers } }),
      });
      // Without a response, or without a tag in it, the store is asked for the tag.
      const etag = toEtag(response?.headers.get("etag") ?? "") || (await headObject(client, key))?.etag;
      return { text, etag: etag ?? "" };
    } catch (error) {
      if (hasCode(error, "precondition-failed")) return undefined;
      throw error;
    }
  }

  return { readObject, writeObject };
}
