import type { StorageEntry, WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { type ContentReader, createContentReader } from "../object-store/content-reader.ts";
import { isSuccessful, type StoreResponse } from "../object-store/http/client.ts";
import { canStreamToStore } from "../object-store/http/request-body.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { toEtag, toObjectEntry, toSecond } from "../object-store/object-entry.ts";
import { createPartMemory, type PartMemory } from "../object-store/part-memory.ts";
import { joined, type ObjectPart, toParts } from "../object-store/parts.ts";
import { createPermits, type Permits } from "../object-store/permits.ts";
import { createTargets, type ObjectTargets } from "../object-store/targets.ts";
import type { S3Client } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { codeOf } from "./errors.ts";
import { putMarker } from "./folder-marker.ts";
import { createS3Lookup, headObject } from "./head.ts";
import { completeUpload, type S3Upload, sendParts, toFileHeaders } from "./multipart-parts.ts";
import { createUploads, type S3UploadState, type S3Uploads } from "./multipart-uploads.ts";
import { type S3PartPlan, toPartPlan } from "./part-size.ts";
import { hasS3Properties } from "./properties.ts";
import { sendStreamedParts } from "./streamed-parts.ts";

/** Creates objects. */
export interface S3Writer extends ObjectTargets {
  /** Stores a complete file, or nothing. */
  writeFile(location: ObjectLocation, content: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<StorageEntry>;
  /** Stores an object that bears the mark `writer`, with one request and the conditions. */
  putObject(
    location: ObjectLocation,
    body: Uint8Array<ArrayBuffer>,
    options: WriteOptions,
    writer: string,
  ): Promise<StorageEntry>;
  /** Checks a location again, and makes the parts of an upload the object there. */
  completeParts(location: ObjectLocation, parts: S3SentParts, options: WriteOptions): Promise<StorageEntry>;
  readonly uploads: S3Uploads;
  /** Memory for the parts of all uploads, and permits for their requests. */
  readonly memory: PartMemory;
  readonly permits: Permits;
}

/** All parts of an upload, by their entity-tags. */
export interface S3SentParts {
  readonly upload: S3Upload;
  readonly tags: readonly string[];
  /** Size of the object. */
  readonly size: number;
  /** The mark that the upload was created with. */
  readonly writer: string;
  /** Called with the error code when the store refuses to complete the upload. */
  readonly onRefusal?: (code: string) => void;
}

/** If the location was checked longer ago than this, in milliseconds, it is checked again before a file is stored. */
const STALE_MS = 2000;
const PARALLEL_UPLOADS = 4;

/** The content of an upload in parts: those that are held, and the rest. */
interface PartSource {
  readonly parts: AsyncIterable<ObjectPart>;
  readonly reader: ContentReader;
  readonly plan: S3PartPlan;
}

/** Creates the writer of one storage. `toPlan` is replaced in tests, because files that need it are large. */
export function createS3Writer(client: S3Client, support: S3ConditionSupport, toPlan = toPartPlan): S3Writer {
  const { clock, prefix, partBytes, parallelParts, maxHeldBytes } = client.settings;
  const uploads = createUploads(client);
  const permits = createPermits(parallelParts * PARALLEL_UPLOADS);
  const memory = createPartMemory(maxHeldBytes, clock);
  const targets = createTargets({
    ...createS3Lookup(client),
    prefix,
    replacesNextToFolder: false,
    putMarker: (folder) => putMarker(client, support, folder),
  });

  async function writeFile(
    location: ObjectLocation,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<StorageEntry> {
    const { size, signal, owner } = options;
    signal?.throwIfAborted();
    const plan = toPlan(partBytes, size, canStreamToStore);
    await targets.checkTarget(location, options, signal);
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const held = memory.open({ owner, signal: controller.signal, end: (error) => controller.abort(error) });
    const reader = createContentReader(receive(content, { ...options, signal: controller.signal }));
    const parts = toParts(reader, { bytesOf: plan.bytesOf, maxParts: plan.maxHeldParts, size }, held);
    try {
      const looked = clock();
      const first = await parts.next();
      if (first.done) throw new TypeError("There is no part to upload.");
      if (first.value.isLast) {
        if (clock() - looked > STALE_MS) await targets.checkTarget(location, options, signal);
        return await putObject(location, first.value.bytes(), options, crypto.randomUUID());
      }
      const source: PartSource = { parts: joined(first.value, parts), reader, plan };
      return await putInParts(location, source, options, { permits, controller });
    } finally {
      signal?.removeEventListener("abort", abort);
      held.close();
      await reader.close();
    }
  }

  async function putObject(
    location: ObjectLocation,
    body: Uint8Array<ArrayBuffer>,
    options: WriteOptions,
    writer: string,
  ): Promise<StorageEntry> {
    const { key } = location;
    const { signal } = options;
    const response = await changeConditionally(client, support, {
      kind: "put",
      key,
      writer,
      conditions: options,
      signal,
      what: `PUT ${key}`,
      send: (headers) => client.call({ method: "PUT", key, body, headers: { ...headers, ...toFileHeaders(writer) } }),
    });
    return fetchEntry(location, body.byteLength, writer, response);
  }

  async function putInParts(
    location: ObjectLocation,
    { parts, reader, plan }: PartSource,
    options: WriteOptions,
    sending: Parameters<typeof sendParts>[3],
  ): Promise<StorageEntry> {
    const { key } = location;
    const { signal } = options;
    const writer = crypto.randomUUID();
    const upload = await uploads.begin(key, toFileHeaders(writer), signal);
    let state: S3UploadState = "sending";
    try {
      const heldTags = await sendParts(client, upload, parts, sending);
      const streamedTags = await sendStreamedParts(client, upload, reader, plan, options.size, sending.controller);
      const tags = [...heldTags, ...streamedTags];
      state = "sent";
      const entry = await completeParts(location, { upload, tags, size: reader.position(), writer }, options);
      state = "complete";
      return entry;
    } finally {
      await uploads.end(upload, state);
    }
  }

  async function completeParts(
    location: ObjectLocation,
    { upload, tags, size, writer, onRefusal }: S3SentParts,
    options: WriteOptions,
  ): Promise<StorageEntry> {
    const { key } = location;
    const { signal } = options;
    await targets.checkTarget(location, options, signal);
    const response = await changeConditionally(client, support, {
      kind: "complete",
      key,
      writer,
      conditions: options,
      signal,
      what: `PUT ${key}`,
      async send(headers) {
        const response = await completeUpload(client, upload, tags, headers);
        if (!isSuccessful(response)) onRefusal?.(codeOf(response));
        return response;
      },
    });
    return fetchEntry(location, size, writer, response);
  }

  /**
   * Returns the entry of the file that was just written. The modification time is that of the store, as every later
   * reader sees it. Ignores what another writer has stored there meanwhile.
   */
  async function fetchEntry(
    location: ObjectLocation,
    size: number,
    writer: string,
    response: StoreResponse | undefined,
  ): Promise<StorageEntry> {
    const [found, hasProperties] = await Promise.all([
      headObject(client, location.key).catch(() => undefined),
      hasS3Properties(client, location).catch(() => false),
    ]);
    const date = response?.headers.get("date") ?? new Date(clock()).toUTCString();
    const isOwn = found?.writer === writer && found.size === size;
    const head = isOwn ? found : { size, modified: toSecond(date), etag: toEtag(response?.headers.get("etag") ?? "") };
    const entry = toObjectEntry(location.name, head);
    return hasProperties ? { ...entry, hasProperties } : entry;
  }

  return { ...targets, writeFile, putObject, completeParts, uploads, memory, permits };
}
