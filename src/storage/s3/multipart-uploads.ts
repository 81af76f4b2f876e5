import type { S3Client } from "./client.ts";
import { isDone } from "./errors.ts";
import { abortUpload, beginUpload, hasParts, type S3Upload } from "./multipart-parts.ts";
import { parseResponse, textOf } from "./xml.ts";

/** How far an upload has come: parts may still be on their way to the store, all have arrived, or it is a file. */
export type S3UploadState = "sending" | "sent" | "complete";

/** The uploads in parts of one storage, none of which outlives its write. */
export interface S3Uploads {
  /** Begins one of an object that will bear this mark. */
  begin(key: string, writer: string, signal?: AbortSignal): Promise<S3Upload>;
  /** Told that one is complete, or else ends it; never rejects. */
  end(upload: S3Upload, state: S3UploadState): Promise<void>;
}

/** How much earlier than our first attempt a store may say that an upload was begun, in milliseconds. */
const LEEWAY_MS = 2000;

/**
 * Keeps count of uploads. Where the answer to a begin got lost, the store may hold an upload that nobody knows: it is looked for when the
 * write has ended, among those of the key that are none of ours, were begun since, and have no parts yet; what is found is ended.
 */
export function createUploads(client: S3Client): S3Uploads {
  const { clock } = client.settings;
  const known = new Set<string>();
  const beginning = new Map<string, number>();
  /** Since when a key may have uploads that nobody knows. */
  const doubtful = new Map<string, number>();

  async function begin(key: string, writer: string, signal?: AbortSignal): Promise<S3Upload> {
    const since = clock();
    const doubt = (): void => setDoubtful(key, since);
    beginning.set(key, (beginning.get(key) ?? 0) + 1);
    let hasStarted = true;
    try {
      const { upload, isOnlyOne } = await beginUpload(client, key, writer, signal);
      known.add(upload.id);
      if (!isOnlyOne) doubt();
      return upload;
    } catch (error) {
      doubt();
      hasStarted = false;
      throw error;
    } finally {
      countDown(key);
      // Nobody will tell of its end.
      if (!hasStarted) await sweep(key);
    }
  }

  function setDoubtful(key: string, since: number): void {
    doubtful.set(key, Math.min(since, doubtful.get(key) ?? since));
  }

  function countDown(key: string): void {
    const left = (beginning.get(key) ?? 1) - 1;
    if (left === 0) beginning.delete(key);
    else beginning.set(key, left);
  }

  async function end(upload: S3Upload, state: S3UploadState): Promise<void> {
    if (state !== "complete") await abortUpload(client, upload, state === "sending");
    known.delete(upload.id);
    if (doubtful.has(upload.key)) await sweep(upload.key);
  }

  /** Left to the last of several writers of one key: what another one is beginning looks like what nobody knows. */
  async function sweep(key: string): Promise<void> {
    const since = doubtful.get(key);
    if (since === undefined || beginning.has(key)) return;
    doubtful.delete(key);
    for (const id of await findUnknown(key, since).catch(() => [])) {
      // What has begun since the listing was asked for may be in it: whoever began it looks again at its end.
      if (beginning.has(key) || known.has(id)) return setDoubtful(key, since);
      await abortUpload(client, { key, id }, false);
    }
  }

  async function findUnknown(key: string, since: number): Promise<readonly string[]> {
    const response = await client.call({ method: "GET", query: { uploads: "", prefix: key, "max-uploads": "1000" } });
    if (!isDone(response)) return [];
    const now = Date.parse(response.headers.get("date") ?? "");
    const earliest = (Number.isNaN(now) ? clock() : now) - (clock() - since) - LEEWAY_MS;
    const found: string[] = [];
    for (const part of parseResponse(response.text)?.parts ?? []) {
      const id = textOf(part, "UploadId");
      if (part.name !== "Upload" || textOf(part, "Key") !== key || id === "" || known.has(id)) continue;
      if (Date.parse(textOf(part, "Initiated")) >= earliest && (await hasParts(client, { key, id })) === false)
        found.push(id);
    }
    return found;
  }

  return { begin, end };
}
