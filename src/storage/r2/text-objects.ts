import { StorageError } from "../../contracts/storage-adapter.ts";
import { readBytes } from "../../platform/read-bytes.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { wait } from "../../platform/wait.ts";
import type { TextObject, TextObjects } from "../object-store/text-objects.ts";
import type { R2Bucket, R2Condition } from "./binding.ts";
import { mapR2Errors } from "./write.ts";

/** Longest text: properties have at most 64 KiB in UTF-8, each character escaped, and uploads 10,000 entity-tags. */
const MAX_BYTES = 4_194_304;

/** Reads and changes objects that hold JSON. */
export function createR2TextObjects(bucket: R2Bucket): TextObjects {
  async function readObject(key: string): Promise<TextObject | undefined> {
    const found = await mapR2Errors(() => bucket.get(key));
    if (found === null) return undefined;
    const bytes = await mapR2Errors(() => readBytes(found.body.getReader(), MAX_BYTES));
    const text = bytes && decodeUtf8(bytes);
    if (text === undefined) throw new StorageError("unavailable", `${key}: not a text of this storage`);
    return { text, etag: found.httpEtag };
  }

  async function writeObject(
    key: string,
    text: string,
    current: TextObject | undefined,
  ): Promise<TextObject | undefined> {
    const onlyIf: R2Condition =
      current === undefined ? { etagDoesNotMatch: "*" } : { etagMatches: current.etag.slice(1, -1) };
    const httpMetadata = { contentType: "application/json" };
    const bytes = new TextEncoder().encode(text);
    const written = await mapR2Errors(() => bucket.put(key, bytes, { onlyIf, httpMetadata }));
    return written === null ? undefined : { text, etag: written.httpEtag };
  }

  return { readObject, writeObject };
}

/** How often a write that fails is tried again. */
const MAX_RETRIES = 3;
/** Wait before the first retry, in milliseconds. It grows by this time with each one. */
const RETRY_MS = 600;

/**
 * Repeats writes that fail, because R2 takes one write a second for each key. A write whose response was lost is
 * recognized by its text, so no text may be written twice.
 */
export function withRetries(texts: TextObjects): TextObjects {
  async function writeObject(
    key: string,
    text: string,
    current: TextObject | undefined,
  ): Promise<TextObject | undefined> {
    for (let retry = 1; ; retry += 1) {
      try {
        return await texts.writeObject(key, text, current);
      } catch (error) {
        const found = await texts.readObject(key).catch(() => undefined);
        if (found?.text === text) return found;
        if (retry > MAX_RETRIES || found?.etag !== current?.etag) throw error;
        await wait(RETRY_MS * retry);
      }
    }
  }

  return { readObject: texts.readObject, writeObject };
}
