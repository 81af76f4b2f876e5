import type { ObjectPart } from "../parts.ts";
import type { MultipartUpload, UploadBucket } from "./bucket.ts";
import type { Thrown } from "./content.ts";

/** Sends the parts of one append. */
export interface PartSender {
  /** Sends a part, and waits until the next one may be filled. Parts come in their order. */
  send(upload: MultipartUpload, number: number, part: ObjectPart): Promise<void>;
  /** Resolves when no part is on its way. */
  settle(): Promise<void>;
  /** The entity-tags of the first parts that have arrived, without a gap between them. */
  tags(): readonly string[];
  /** The first failure of a part. */
  failure(): Thrown | undefined;
}

/** Creates the sender of an append whose first part has a number. */
export function createPartSender(bucket: UploadBucket, firstNumber: number): PartSender {
  const { permits, maxSentBytes } = bucket;
  const tags = new Map<number, string>();
  const running = new Set<Promise<void>>();
  let runningBytes = 0;
  let failure: Thrown | undefined;

  async function send(upload: MultipartUpload, number: number, part: ObjectPart): Promise<void> {
    await permits.acquire();
    runningBytes += part.byteLength;
    const sent: Promise<void> = sendNow(upload, number, part).then(() => void running.delete(sent));
    running.add(sent);
    while (running.size > 0 && runningBytes > maxSentBytes) await Promise.race(running);
  }

  async function sendNow(upload: MultipartUpload, number: number, part: ObjectPart): Promise<void> {
    try {
      tags.set(number, await bucket.sendPart(upload, number, part.bytes()));
      part.release();
    } catch (error) {
      failure ??= { error };
    } finally {
      runningBytes -= part.byteLength;
      permits.release();
    }
  }

  async function settle(): Promise<void> {
    await Promise.all(running);
  }

  function tagsWithoutGap(): readonly string[] {
    const found: string[] = [];
    for (let tag = tags.get(firstNumber); tag !== undefined; tag = tags.get(firstNumber + found.length))
      found.push(tag);
    return found;
  }

  return { send, settle, tags: tagsWithoutGap, failure: () => failure };
}
