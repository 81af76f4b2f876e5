import type { S3Client } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { WRITER_HEADER } from "./entries.ts";

/**
 * Creates the marker of a folder.
 * @throws StorageError `precondition-failed` if another writer was faster.
 */
export async function putMarker(client: S3Client, support: S3ConditionSupport, folder: string): Promise<void> {
  const writer = crypto.randomUUID();
  const headers = { "content-type": "application/x-directory", [WRITER_HEADER]: writer };
  await changeConditionally(client, support, {
    kind: "put",
    key: folder,
    writer,
    conditions: { ifNoneMatch: "*" },
    isKnownToBeFree: true,
    what: `PUT ${folder}`,
    send: (conditions) =>
      client.call({ method: "PUT", key: folder, body: new Uint8Array(0), headers: { ...conditions, ...headers } }),
  });
}
