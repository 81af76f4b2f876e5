import type { ByteRange, StoredFile } from "../../contracts/storage-adapter.ts";
import { readStoredObject } from "../object-store/http/read-object.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import type { AzureClient } from "./client.ts";
import { toBlobEntry } from "./entries.ts";
import { isMissingBlob, toAzureError } from "./errors.ts";
import { createBlobLookup, toAzureHead } from "./head.ts";

/** How long a URL is valid that is used at once. */
const SIGNED_SECONDS = 900;

/**
 * Reads a file or a range of it with one request.
 * @throws StorageError `not-found`, or `not-a-file` for a folder.
 */
export function readBlob(
  client: AzureClient,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile> {
  const store = {
    ...createBlobLookup(client),
    settings: client.settings,
    toHead: toAzureHead,
    toEntry: toBlobEntry,
    isMissing: isMissingBlob,
    toError: toAzureError,
    /**
     * If a blob was stored with a `Content-Encoding`, it is requested again as if it had none, which only a signed URL
     * can ask for.
     */
    async openAsStored(key: string, headers: Readonly<Record<string, string>>, signal: AbortSignal | undefined) {
      const request = { method: "GET", key, headers, signal } as const;
      const opened = await client.open(request);
      const encoding = opened.headers.get("content-encoding") ?? "";
      if (opened.body === undefined || /^(?:|identity)$/i.test(encoding)) return opened;
      opened.body.close();
      return client.open({ ...request, signedUrl: await client.presign(key, SIGNED_SECONDS, { rsce: "identity" }) });
    },
  };
  return readStoredObject(store, location, range);
}
