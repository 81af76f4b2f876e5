import { StorageError } from "../../contracts/storage-adapter.ts";
import { wait } from "../../platform/wait.ts";
import { isSuccessful, type StoreRequest, type StoreResponse } from "../object-store/http/client.ts";
import { toWait } from "../object-store/http/retry.ts";
import { childText, escapeXml, parseResponse } from "../object-store/http/xml.ts";
import type { ObjectPart } from "../object-store/parts.ts";
import type { Permits } from "../object-store/permits.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { WRITER_HEADER } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { callForResult } from "./late-result.ts";

/** How often an upload is aborted while its parts still arrive. */
const MAX_ABORTS = 4;

/** A multipart upload that was created. */
export interface S3Upload {
  readonly key: string;
  readonly id: string;
}

/**
 * A new multipart upload. `isOnlyOne` is false if earlier attempts may have created other uploads, whose responses were
 * lost.
 */
export interface S3UploadStart {
  readonly upload: S3Upload;
  readonly isOnlyOne: boolean;
}

/** Creates a multipart upload. Its object will have these headers. */
export async function startUpload(
  client: S3Client,
  key: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<S3UploadStart> {
  const request: StoreRequest = { method: "POST", key, query: { uploads: "" }, headers, signal };
  const response = await client.call(request);
  if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
  const id = childText(parseResponse(response.text), "UploadId");
  if (id === "")
    throw new StorageError("unavailable", `${describeS3Request(request)}: the store returned no upload ID`);
  return { upload: { key, id }, isOnlyOne: response.attempts === 1 };
}

/** Returns the headers of every file that the storage creates. */
export function toFileHeaders(writer: string): Record<string, string> {
  return { "content-type": "application/octet-stream", [WRITER_HEADER]: writer };
}

/** What {@link sendParts} works with. */
export interface S3PartWays {
  /** Limits the parts that all uploads send in parallel. */
  readonly permits: Permits;
  /** Stops all running requests. {@link sendParts} itself aborts it when a part fails. */
  readonly controller: AbortController;
}

/**
 * Sends parts in parallel as they arrive. Holds at most as many bytes as `parallelParts` parts of the usual size, or
 * one part. Resolves with the entity-tags of all parts. When it settles, no request is running.
 */
export async function sendParts(
  client: S3Client,
  upload: S3Upload,
  parts: AsyncIterable<ObjectPart>,
  { permits, controller }: S3PartWays,
): Promise<readonly string[]> {
  const { partBytes, parallelParts } = client.settings;
  const tags: string[] = [];
  const running = new Set<Promise<void>>();
  let runningBytes = 0;
  let failure: { readonly error: unknown } | undefined;

  async function send(part: ObjectPart): Promise<void> {
    try {
      tags[part.number - 1] = await sendPart(client, upload, part.number, part.bytes(), controller.signal);
      part.release();
    } catch (error) {
      failure ??= { error };
      controller.abort(error);
    } finally {
      runningBytes -= part.byteLength;
      permits.release();
    }
  }

  try {
    for await (const part of parts) {
      while (running.size > 0 && runningBytes + part.byteLength > partBytes * parallelParts)
        await Promise.race(running);
      await permits.acquire();
      runningBytes += part.byteLength;
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

/** Whether the store still has an upload. */
export async function hasUpload(client: S3Client, { key, id }: S3Upload): Promise<boolean> {
  const request: StoreRequest = { method: "GET", key, query: { uploadId: id, "max-parts": "1" } };
  const response = await client.call(request);
  if (isMissing(response)) return false;
  if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
  return true;
}

/** Sends one part, and returns its entity-tag. */
export async function sendPart(
  client: S3Client,
  { key, id }: S3Upload,
  number: number,
  body: NonNullable<StoreRequest["body"]>,
  signal: AbortSignal,
): Promise<string> {
  const query = { partNumber: String(number), uploadId: id };
  const request: StoreRequest = { method: "PUT", key, query, body, signal };
  const response = await client.call(request);
  const tag = response.headers.get("etag");
  if (!isSuccessful(response) || tag === null) throw toS3StorageError(response, describeS3Request(request));
  return tag;
}

/** Completes a multipart upload. `attempts` of the response counts all requests. */
export async function completeUpload(
  client: S3Client,
  { key, id }: S3Upload,
  tags: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<StoreResponse> {
  const list = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`;
  const request: StoreRequest = {
    method: "POST",
    key,
    query: { uploadId: id },
    headers: { ...headers, "content-type": "application/xml" },
    body: new TextEncoder().encode(text),
  };
  return callForResult(client, request, "CompleteMultipartUploadResult");
}

/** Whether an upload has parts. Returns `undefined` if the store does not say, because the upload has ended. */
export async function hasParts(client: S3Client, { key, id }: S3Upload): Promise<boolean | undefined> {
  const response = await client.call({ method: "GET", key, query: { uploadId: id, "max-parts": "1" } });
  return isSuccessful(response) ? parseResponse(response.text)?.parts.some(({ name }) => name === "Part") : undefined;
}

/**
 * Aborts an upload and frees its parts. With `mayPartsCome`, parts that are still being sent may arrive after the
 * abort, so it is repeated while the upload has any. Never rejects, because the write has already failed. Parts that
 * remain are left to the lifecycle rule of the bucket.
 */
export async function abortUpload(client: S3Client, upload: S3Upload, { mayPartsCome = false } = {}): Promise<void> {
  const { key, id } = upload;
  try {
    for (let attempt = 1; attempt <= MAX_ABORTS; attempt += 1) {
      const response = await client.call({ method: "DELETE", key, query: { uploadId: id } });
      if (!isSuccessful(response) || !mayPartsCome || !(await hasParts(client, upload))) return;
      await wait(toWait(attempt, null, client.settings), undefined);
    }
  } catch {
    // The caller gets the error of the write itself.
  }
}
