import type { ByteRange, StoredFile } from "../../contracts/storage-adapter.ts";
import { readStoredObject } from "../object-store/http/read-object.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { toObjectEntry } from "../object-store/object-entry.ts";
import type { S3Client } from "./client.ts";
import { hasContentEncoding, toHead } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { createS3Lookup } from "./head.ts";

/**
 * Reads a file or a range of it with one request.
 * @throws StorageError `not-found`, or `not-a-file` for a folder.
 */
export function readFile(
  client: S3Client,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile> {
  const store = {
    ...createS3Lookup(client),
    settings: client.settings,
    toHead,
    toEntry: toObjectEntry,
    isMissing,
    toError: toS3StorageError,
    /** If an object was stored with a `Content-Encoding`, it is requested again as if it had none. */
    async openAsStored(key: string, headers: Readonly<Record<string, string>>, signal: AbortSignal | undefined) {
      const request = { method: "GET", key, headers, signal } as const;
      const opened = await client.open(request);
      if (opened.body === undefined || !hasContentEncoding(opened.headers)) return opened;
      opened.body.close();
      return client.open({ ...request, query: { "response-content-encoding": "identity" } });
    },
  };
  return readStoredObject(store, location, range);
}
