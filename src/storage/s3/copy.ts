import { matchesStrongly } from "../../contracts/entity-tags.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import type { ObjectCopy, ObjectCopyOptions } from "../object-store/copy-and-move.ts";
import type { StoreResponse } from "../object-store/http/client.ts";
import { childText, parseResponse } from "../object-store/http/xml.ts";
import { toEtag } from "../object-store/object-entry.ts";
import { withPermit } from "../object-store/permits.ts";
import type { S3Client } from "./client.ts";
import { type ConditionalChange, changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { type S3CopySource, toCopyHeaders, toKeptHeaders, toTagHeaders } from "./copy-headers.ts";
import { headObject, headResponse } from "./head.ts";
import { callForResult } from "./late-result.ts";
import { completeUpload } from "./multipart-parts.ts";
import type { S3UploadState, S3Uploads } from "./multipart-uploads.ts";
import { sendPartCopies } from "./part-copies.ts";

/** Largest object that stores copy by one request: 5 GiB. */
const MAX_COPY_BYTES = 5 * 1024 ** 3;
/** Size of the parts of larger objects: 128 MiB. Nothing of them is held in memory. */
const PART_BYTES = 128 * 1024 ** 2;
/** How often an object may change while it is copied. */
const MAX_ROUNDS = 4;

/** Copies objects within the store. */
export interface S3Copier {
  copyObject(from: string, to: string, options: ObjectCopyOptions): Promise<ObjectCopy | undefined>;
}

/** Creates the copier of one storage. Objects beyond `maxBytes` are copied in parts. */
export function createS3Copier(
  client: S3Client,
  support: S3ConditionSupport,
  uploads: S3Uploads,
  { maxBytes = MAX_COPY_BYTES, partBytes = PART_BYTES } = {},
): S3Copier {
  async function copyObject(from: string, to: string, options: ObjectCopyOptions): Promise<ObjectCopy | undefined> {
    const source = await withPermit(options.permits, () => readSource(from, options));
    if (source === undefined) return undefined;
    if (source.size > maxBytes) return copyInParts(source, to, options);
    return copyAtOnce(source, to, options);
  }

  /**
   * Looks at the source. A copy gets all metadata by its headers, because it has a writer's tag of its own.
   * @throws StorageError `precondition-failed`
   */
  async function readSource(
    key: string,
    { ifMatch, signal }: Pick<ObjectCopyOptions, "ifMatch" | "signal">,
  ): Promise<S3CopySource | undefined> {
    const found = await headResponse(client, key, signal);
    if (found === undefined) return undefined;
    const { etag, size } = found.head;
    if (ifMatch !== undefined && !matchesStrongly(etag, ifMatch)) throw new StorageError("precondition-failed", key);
    return { key, size, etag, headers: toKeptHeaders(found.headers) };
  }

  async function copyAtOnce(
    first: S3CopySource,
    to: string,
    options: ObjectCopyOptions,
  ): Promise<ObjectCopy | undefined> {
    const { permits } = options;
    const writer = crypto.randomUUID();
    let source: S3CopySource = first;
    /** What the source refuses. It must not be mistaken for a refusal by what is at the new key. */
    let refusal: StorageError | undefined;

    async function send(conditions: Readonly<Record<string, string>>): Promise<StoreResponse> {
      for (let round = 1; ; round += 1) {
        options.signal?.throwIfAborted();
        const headers = { ...conditions, ...toCopyHeaders(client, source), ...toTagHeaders(source, writer) };
        // Without the signal: what is sent may be done.
        const request = { method: "PUT", key: to, headers } as const;
        const response = await withPermit(permits, () => callForResult(client, request, "CopyObjectResult"));
        const isAboutSource = response.status === 412 || response.status === 404;
        if (!isAboutSource || round === MAX_ROUNDS) return response;
        const current = await readSource(first.key, options).catch((error: unknown) => {
          if (hasCode(error, "precondition-failed")) refusal = error;
          throw error;
        });
        if (current === undefined) {
          refusal = new StorageError("not-found", first.key);
          throw refusal;
        }
        if (current.etag === source.etag) return response;
        source = current;
      }
    }

    try {
      const response = await changeTarget({ kind: "copy", key: to, writer, send }, options);
      const tag = response && childText(parseResponse(response.text), "ETag");
      return { source: source.etag, etag: await toTag(tag, to) };
    } catch (error) {
      if (refusal?.code === "not-found") return undefined;
      throw refusal ?? toTargetError(error, options);
    }
  }

  async function copyInParts(source: S3CopySource, to: string, options: ObjectCopyOptions): Promise<ObjectCopy> {
    const { signal } = options;
    const writer = crypto.randomUUID();
    const upload = await uploads.begin(to, toTagHeaders(source, writer), signal);
    let state: S3UploadState = "sending";
    try {
      const tags = await sendPartCopies(client, upload, source, { ...options, partBytes });
      state = "sent";
      const send: ConditionalChange["send"] = (headers) => completeUpload(client, upload, tags, headers);
      const response = await changeTarget({ kind: "complete", key: to, writer, send }, options);
      state = "complete";
      const tag = response && childText(parseResponse(response.text), "ETag");
      return { source: source.etag, etag: await toTag(tag, to) };
    } catch (error) {
      throw state === "sent" ? toTargetError(error, options) : error;
    } finally {
      await uploads.end(upload, state);
    }
  }

  function changeTarget(
    change: Pick<ConditionalChange, "kind" | "key" | "writer" | "send">,
    { isNew, isInNewFolder, signal }: ObjectCopyOptions,
  ): Promise<StoreResponse | undefined> {
    return changeConditionally(client, support, {
      ...change,
      conditions: isNew ? { ifNoneMatch: "*" } : {},
      ...(isInNewFolder && { isKnownToBeFree: true }),
      signal,
      what: `copy to ${change.key}`,
    });
  }

  /** Returns the entity-tag of a copy. If the response to it was lost, asks for it. */
  async function toTag(tag: string | undefined, key: string): Promise<string> {
    if (tag) return toEtag(tag);
    return (await headObject(client, key).catch(() => undefined))?.etag ?? "";
  }

  return { copyObject };
}

function toTargetError(error: unknown, { isNew }: ObjectCopyOptions): unknown {
  if (!isNew || !hasCode(error, "precondition-failed")) return error;
  return new StorageError("already-exists", "Something else was created there.", { cause: error });
}
