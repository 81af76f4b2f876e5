import { StorageError } from "../../contracts/storage-adapter.ts";
import { countChunk } from "../../platform/gc-pressure.ts";
import type { ObjectPart, PartBuffers } from "../object-store/parts.ts";
import { describe, type S3Client, type S3Request } from "./client.ts";
import { WRITER_HEADER } from "./entries.ts";
import { isDone, type S3Response, toCode, toStorageError } from "./errors.ts";
import { isPassing, toWait, wait } from "./retry.ts";
import { escapeXml, parseResponse, textOf } from "./xml.ts";

/** Milliseconds that a store may take to join parts, beyond the usual. */
const JOINING_MS = 300_000;
/** How often an upload is ended whose parts still come. */
const MOST_ENDS = 4;

/** An upload in parts that has begun. */
export interface S3Upload {
  readonly key: string;
  readonly id: string;
}

/** A begun upload, and whether attempts before may have begun others, whose answers got lost. */
export interface S3Begin {
  readonly upload: S3Upload;
  readonly isOnlyOne: boolean;
}

/** Begins an upload in parts of an object that will bear a writer's mark. */
export async function beginUpload(
  client: S3Client,
  key: string,
  writer: string,
  signal?: AbortSignal,
): Promise<S3Begin> {
  const request: S3Request = { method: "POST", key, query: { uploads: "" }, headers: toFileHeaders(writer), signal };
  const response = await client.call(request);
  if (!isDone(response)) throw toStorageError(response, describe(request));
  const id = textOf(parseResponse(response.text), "UploadId");
  if (id === "") throw new StorageError("unavailable", `${describe(request)}: the store named no upload`);
  return { upload: { key, id }, isOnlyOne: response.attempts === 1 };
}

/** The headers that every object of ours is made with. */
export function toFileHeaders(writer: string): Record<string, string> {
  return { "content-type": "application/octet-stream", [WRITER_HEADER]: writer };
}

/** What of all uploads is on its way at once. */
export interface S3Permits {
  /** Waits until there is room. */
  take(): Promise<void>;
  giveBack(): void;
}

/** So many permits, given in the order in which they are asked for. */
export function createPermits(count: number): S3Permits {
  const waiting: (() => void)[] = [];
  let left = count;

  async function take(): Promise<void> {
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function giveBack(): void {
    const next = waiting.shift();
    if (next === undefined) left += 1;
    else next();
  }

  return { take, giveBack };
}

/** What parts are sent with. */
export interface S3PartWays {
  readonly permits: S3Permits;
  readonly buffers: PartBuffers;
  /** Ends all that is under way; aborted by {@link sendParts} itself when a part fails. */
  readonly controller: AbortController;
}

/**
 * Sends parts as they come, several at once: no more bytes than of `parallelParts` parts of the usual size, or of one. Resolves with their
 * entity-tags when all have arrived; when it rejects, none is under way any more.
 */
export async function sendParts(
  client: S3Client,
  upload: S3Upload,
  parts: AsyncIterable<ObjectPart>,
  { permits, buffers, controller }: S3PartWays,
): Promise<readonly string[]> {
  const { partBytes, parallelParts } = client.settings;
  const tags: string[] = [];
  const running = new Set<Promise<void>>();
  let runningBytes = 0;
  let failure: { readonly error: unknown } | undefined;

  async function send({ number, bytes }: ObjectPart): Promise<void> {
    try {
      tags[number - 1] = await sendPart(client, upload, number, bytes, controller.signal);
      buffers.giveBack(bytes);
    } catch (error) {
      failure ??= { error };
      controller.abort(error);
    } finally {
      runningBytes -= bytes.byteLength;
      permits.giveBack();
    }
  }

  try {
    for await (const part of parts) {
      while (running.size > 0 && runningBytes + part.bytes.byteLength > partBytes * parallelParts)
        await Promise.race(running);
      await permits.take();
      runningBytes += part.bytes.byteLength;
      const sent: Promise<void> = send(part).then(() => void running.delete(sent));
      running.add(sent);
      if (failure !== undefined) break;
    }
  } catch (error) {
    failure ??= { error };
    controller.abort(error);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
  return tags;
}

async function sendPart(
  client: S3Client,
  { key, id }: S3Upload,
  number: number,
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const query = { partNumber: String(number), uploadId: id };
  const request: S3Request = { method: "PUT", key, query, body, signal };
  const response = await client.call(request);
  // A client of HTTP may have copied it.
  countChunk(body.byteLength);
  const tag = response.headers.get("etag");
  if (!isDone(response) || tag === null) throw toStorageError(response, describe(request));
  return tag;
}

/**
 * Joins the parts. The answer's status is that of the outcome, which stores tell inside a 200 when it took them long; its `attempts` count
 * all.
 */
export async function completeUpload(
  client: S3Client,
  { key, id }: S3Upload,
  tags: readonly string[],
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<S3Response> {
  const list = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`;
  const request: S3Request = {
    method: "POST",
    key,
    query: { uploadId: id },
    headers: { ...headers, "content-type": "application/xml" },
    body: new TextEncoder().encode(text),
    patience: JOINING_MS,
    signal,
  };
  for (let attempts = 1; ; attempts += 1) {
    const response = await client.call(request);
    const root = isDone(response) ? parseResponse(response.text) : undefined;
    if (!isDone(response) || root?.name === "CompleteMultipartUploadResult") {
      return { ...response, attempts: response.attempts + attempts - 1 };
    }
    const code = toCode(textOf(root, "Code"));
    if (attempts > client.settings.retries || !isPassing(0, code)) {
      return { ...response, status: code === "PreconditionFailed" ? 412 : 500, attempts: response.attempts + attempts };
    }
    await wait(toWait(attempts, null, client.settings), signal);
  }
}

/** Whether an upload has parts; `undefined` where the store does not say, as it has ended. */
export async function hasParts(client: S3Client, { key, id }: S3Upload): Promise<boolean | undefined> {
  const response = await client.call({ method: "GET", key, query: { uploadId: id, "max-parts": "1" } });
  return isDone(response) ? parseResponse(response.text)?.parts.some(({ name }) => name === "Part") : undefined;
}

/**
 * Ends an upload, and frees its parts. Parts that were on their way may come to the store behind the end: while it has any it is told again.
 * Rejects never, since something failed already: what stays is left to the bucket's own rule.
 */
export async function abortUpload(client: S3Client, upload: S3Upload, mayPartsCome: boolean): Promise<void> {
  const { key, id } = upload;
  try {
    for (let attempt = 1; attempt <= MOST_ENDS; attempt += 1) {
      const response = await client.call({ method: "DELETE", key, query: { uploadId: id } });
      if (!isDone(response) || !mayPartsCome || !(await hasParts(client, upload))) return;
      await wait(toWait(attempt, null, client.settings), undefined);
    }
  } catch {
    // The write's own failure is told.
  }
}
