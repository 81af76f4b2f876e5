import type { Presign } from "../../../contracts/downloads/presign.ts";
import { createBoundedMap } from "../../../platform/bounded-map.ts";
import type { ObjectLocation } from "../../object-store/keys.ts";
import type { S3Client } from "../client.ts";
import type { S3Head } from "../entries.ts";
import { headObject } from "../head.ts";

/** Makes URLs for the download of objects. */
export interface S3Presigner {
  /** Notes what is known of an object, which saves a request for the URL of this version. */
  note(key: string, head: S3Head): void;
  presignRead(location: ObjectLocation, request: Parameters<Presign>[1]): Promise<string | undefined>;
}

const MAX_NOTES = 1000;

/** Creates the presigner of a storage. */
export function createS3Presigner(client: S3Client): S3Presigner {
  const notes = createBoundedMap<string, S3Head>(MAX_NOTES);

  const presignRead: S3Presigner["presignRead"] = async (
    { key },
    { etag, seconds, contentType, contentDisposition },
  ) => {
    const noted = notes.get(key);
    const head = noted !== undefined && noted.etag === etag ? noted : await headObject(client, key);
    if (head === undefined || (etag !== undefined && head.etag !== etag)) return undefined;
    const { versionId, isEncoded } = head;
    const query = {
      "response-cache-control": "private, no-cache",
      "response-content-disposition": contentDisposition,
      "response-content-type": contentType,
      // As a read does: the content as it is stored, of the size that listings show.
      ...(isEncoded && { "response-content-encoding": "identity" }),
      ...(versionId !== undefined && { versionId }),
    };
    return client.presign(key, query, seconds);
  };

  return { note: notes.set, presignRead };
}
