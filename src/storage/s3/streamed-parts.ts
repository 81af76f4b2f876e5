import { StorageError } from "../../contracts/storage-adapter.ts";
import type { ContentReader } from "../object-store/content-reader.ts";
import type { S3Client } from "./client.ts";
import { type S3Upload, sendPart } from "./multipart-parts.ts";
import type { S3PartPlan } from "./part-size.ts";

/**
 * Sends the rest of the content in parts that are not held in memory: one after the other, as their bytes arrive. A
 * part that fails is not sent again. Resolves with the entity-tags of these parts, none if nothing is left.
 *
 * Rejects with the error of the content, or with the error of the store.
 */
export async function sendStreamedParts(
  client: S3Client,
  upload: S3Upload,
  reader: ContentReader,
  { maxHeldParts, bytesOf }: S3PartPlan,
  size: number | undefined,
  controller: AbortController,
): Promise<readonly string[]> {
  const tags: string[] = [];
  for (let number = maxHeldParts + 1; await reader.hasMore(); number += 1) {
    const start = reader.position();
    const byteLength = Math.min(bytesOf(number), (size ?? 0) - start);
    const body = { byteLength, chunks: toChunks(reader, start + byteLength, controller) };
    tags.push(await sendPart(client, upload, number, body, controller.signal));
    if (reader.position() !== start + byteLength) {
      throw new StorageError("unavailable", `PUT ${upload.key}: the store responded before the end of a part`);
    }
  }
  return tags;
}

/** Yields the content up to a position. Copies it, because the request keeps bytes longer than the reader. */
async function* toChunks(
  reader: ContentReader,
  end: number,
  controller: AbortController,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    while (reader.position() < end && (await reader.hasMore())) yield reader.take(end - reader.position()).slice();
  } catch (error) {
    controller.abort(error);
    throw error;
  }
}
