import { isSuccessful } from "../object-store/http/client.ts";
import { childText, parseResponse } from "../object-store/http/xml.ts";
import type { S3Client } from "./client.ts";
import { abortUpload, hasParts, type S3Upload, startUpload } from "./multipart-parts.ts";

/** State of an upload: parts may still be arriving, all parts have arrived, or the file exists. */
export type S3UploadState = "sending" | "sent" | "complete";

/** The multipart uploads of one storage. An upload ends with its write, unless it is handed over. */
export interface S3Uploads {
  /** Creates an upload of an object with these headers. */
  begin(key: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<S3Upload>;
  /** Ends an upload. Aborts it unless its state is `complete`. Never rejects. */
  end(upload: S3Upload, state: S3UploadState): Promise<void>;
  /** Stops tracking an upload: others end it. It has a part, so it is not taken for an unknown one. */
  handOver(upload: S3Upload): Promise<void>;
}

/** Tolerance for the time at which the store says that an upload was created, in milliseconds. */
const LEEWAY_MS = 2000;

/**
 * Keeps track of multipart uploads.
 *
 * If the response to a creation is lost, the store may hold an upload that this storage does not know. When the write
 * ends, the storage searches the uploads of the key. It aborts those that it does not know, that were created since,
 * and that have no parts yet.
 */
export function createUploads(client: S3Client): S3Uploads {
  const { clock } = client.settings;
  const known = new Set<string>();
  const beginning = new Map<string, number>();
  /** For each key that may have unknown uploads: the time since when. */
  const doubtful = new Map<string, number>();

  async function begin(
    key: string,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<S3Upload> {
    const since = clock();
    const doubt = (): void => setDoubtful(key, since);
    beginning.set(key, (beginning.get(key) ?? 0) + 1);
    let hasStarted = true;
    try {
      const { upload, isOnlyOne } = await startUpload(client, key, headers, signal);
      known.add(upload.id);
      if (!isOnlyOne) doubt();
      return upload;
    } catch (error) {
      doubt();
      hasStarted = false;
      throw error;
    } finally {
      countDown(key);
      // No upload exists whose end would start this search.
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
    if (state !== "complete") await abortUpload(client, upload, { mayPartsCome: state === "sending" });
    await handOver(upload);
  }

  async function handOver(upload: S3Upload): Promise<void> {
    known.delete(upload.id);
    if (doubtful.has(upload.key)) await sweep(upload.key);
  }

  /**
   * Aborts unknown uploads of a key. Of several writers of one key only the last one does this, because an upload that
   * another writer is creating also looks unknown.
   */
  async function sweep(key: string): Promise<void> {
    const since = doubtful.get(key);
    if (since === undefined || beginning.has(key)) return;
    doubtful.delete(key);
    for (const id of await findUnknown(key, since).catch(() => [])) {
      // The list may contain an upload that was created after the request. Its writer searches again at its own end.
      if (beginning.has(key) || known.has(id)) return setDoubtful(key, since);
      await abortUpload(client, { key, id });
    }
  }

  async function findUnknown(key: string, since: number): Promise<readonly string[]> {
    const response = await client.call({ method: "GET", query: { uploads: "", prefix: key, "max-uploads": "1000" } });
    if (!isSuccessful(response)) return [];
    const now = Date.parse(response.headers.get("date") ?? "");
    const earliest = (Number.isNaN(now) ? clock() : now) - (clock() - since) - LEEWAY_MS;
    const found: string[] = [];
    for (const part of parseResponse(response.text)?.parts ?? []) {
      const id = childText(part, "UploadId");
      if (part.name !== "Upload" || childText(part, "Key") !== key || id === "" || known.has(id)) continue;
      if (Date.parse(childText(part, "Initiated")) >= earliest && (await hasParts(client, { key, id })) === false)
        found.push(id);
    }
    return found;
  }

  return { begin, end, handOver };
}
