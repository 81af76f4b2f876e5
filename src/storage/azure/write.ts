import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { receive } from "../content.ts";
import { createContentReader } from "../object-store/content-reader.ts";
import type { ObjectChange } from "../object-store/http/change-object.ts";
import { isSuccessful } from "../object-store/http/client.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import { createPartMemory, MAX_HELD_PART_BYTES } from "../object-store/part-memory.ts";
import { joined, type ObjectPart, toParts } from "../object-store/parts.ts";
import { createPermits, withPermit } from "../object-store/permits.ts";
import { createTargets, type ObjectTargets } from "../object-store/targets.ts";
import { changeBlob } from "./change.ts";
import { type AzureClient, type AzureRequest, describeAzureRequest } from "./client.ts";
import { toBlobEntry } from "./entries.ts";
import { toAzureError } from "./errors.ts";
import { type AzureVersion, createBlobLookup, WRITER } from "./head.ts";
import { hasBlobProperties } from "./properties.ts";

/** Stores files and folders. */
export interface AzureWriter extends ObjectTargets {
  writeFile(location: ObjectLocation, content: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<StorageEntry>;
  /** Stores a blob with these headers, and with blocks if it is large. Checks nothing but the conditions. */
  putContent(key: string, content: AsyncIterable<Uint8Array>, options: BlobOptions): Promise<StoredBlob>;
}

/** A stored version, and its number of bytes. */
export type StoredBlob = AzureVersion & Pick<StorageEntry, "size">;

/** How a blob is stored. */
export interface BlobOptions extends WriteOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly isKnownToBeFree?: true;
  /** Called when the content has arrived, before the blob can be seen. */
  beforeCommit?(): Promise<void>;
}

/** A blob that is being stored: its key and its mark. */
interface NewBlob {
  readonly key: string;
  readonly writer: string;
  readonly options: BlobOptions;
}

/** The store takes at most this number of blocks. */
const MAX_BLOCKS = 50_000;
/** A block grows after this number of blocks. */
const BLOCKS_OF_ONE_SIZE = 1000;
const PARALLEL_UPLOADS = 4;
/** If the location was checked longer ago than this, in milliseconds, it is checked again before a file is stored. */
const STALE_MS = 2000;

/** Creates the writer of one storage. */
export function createAzureWriter(client: AzureClient): AzureWriter {
  const { prefix, blockBytes, parallelBlocks, maxHeldBytes, clock } = client.settings;
  const permits = createPermits(parallelBlocks * PARALLEL_UPLOADS);
  const memory = createPartMemory(maxHeldBytes, clock);
  const targets = createTargets({
    ...createBlobLookup(client),
    prefix,
    replacesNextToFolder: true,
    putMarker: (folder) => putFolderMarker(client, folder),
  });

  async function writeFile(
    location: ObjectLocation,
    content: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<StorageEntry> {
    options.signal?.throwIfAborted();
    if ((options.size ?? 0) > MAX_BLOCKS * MAX_HELD_PART_BYTES) throw new StorageError("too-large", location.key);
    await targets.checkTarget(location, options, options.signal);
    const looked = clock();
    const stored = await putContent(location.key, content, {
      ...options,
      async beforeCommit() {
        if (clock() - looked > STALE_MS) await targets.checkTarget(location, options, options.signal);
      },
    });
    const hasProperties = await hasBlobProperties(client, location).catch(() => false);
    return { ...toBlobEntry(location.name, stored), ...(hasProperties && { hasProperties }) };
  }

  async function putContent(
    key: string,
    content: AsyncIterable<Uint8Array>,
    options: BlobOptions,
  ): Promise<StoredBlob> {
    const { size, signal, owner } = options;
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const held = memory.open({ owner, signal: controller.signal, end: (error) => controller.abort(error) });
    const reader = createContentReader(receive(content, { ...options, signal: controller.signal }));
    const parts = toParts(reader, { bytesOf, maxParts: Number.POSITIVE_INFINITY, size }, held);
    const blob = { key, writer: crypto.randomUUID(), options: { ...options, signal: controller.signal } };
    try {
      const first = await parts.next();
      if (first.done) throw new TypeError("There is no part to upload.");
      const { isLast, bytes } = first.value;
      const version = isLast ? await putBlob(blob, bytes()) : await putBlocks(blob, joined(first.value, parts));
      return { ...version, size: reader.position() };
    } finally {
      signal?.removeEventListener("abort", abort);
      held.close();
      await reader.close();
    }
  }

  async function putBlob(blob: NewBlob, body: Uint8Array<ArrayBuffer>): Promise<AzureVersion> {
    await blob.options.beforeCommit?.();
    return commit(blob, (headers) =>
      client.call({
        method: "PUT",
        key: blob.key,
        body,
        headers: { ...headers, "x-ms-blob-type": "BlockBlob" },
      }),
    );
  }

  /**
   * Sends the blocks, and makes them the blob in one step. The store never shows blocks that are not committed, and
   * removes them after a week, or when another write of the same blob ends: then this one fails as `unavailable`.
   */
  async function putBlocks(blob: NewBlob, parts: AsyncIterable<ObjectPart>): Promise<AzureVersion> {
    const { key, writer, options } = blob;
    const ids: string[] = [];
    await inParallel(parts, { most: parallelBlocks, signal: options.signal }, async (part, signal) => {
      const id = btoa(`${writer}-${String(part.number).padStart(6, "0")}`);
      const query = { comp: "block", blockid: id };
      const request: AzureRequest = { method: "PUT", key, query, body: part.bytes(), signal };
      const response = await withPermit(permits, () => client.call(request));
      if (!isSuccessful(response)) throw toAzureError(response, describeAzureRequest(request));
      part.release();
      ids[part.number - 1] = id;
    });
    await options.beforeCommit?.();
    const list = ids.map((id) => `<Uncommitted>${id}</Uncommitted>`).join("");
    const body = new TextEncoder().encode(`<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`);
    const query = { comp: "blocklist" };
    return commit(blob, (headers) => client.call({ method: "PUT", key, query, body, headers }));
  }

  function commit({ key, writer, options }: NewBlob, send: ObjectChange["send"]): Promise<AzureVersion> {
    const { ifMatch, ifNoneMatch, headers: own, isKnownToBeFree, signal } = options;
    return changeBlob(client, {
      key,
      writer,
      conditions: { ...(ifMatch !== undefined && { ifMatch }), ...(ifNoneMatch !== undefined && { ifNoneMatch }) },
      ...(isKnownToBeFree && { isKnownToBeFree }),
      signal,
      what: `PUT ${key}`,
      send: (headers) => send({ ...headers, ...own, [WRITER]: writer }),
    });
  }

  /** Returns the length of a block, by its number from 1. */
  function bytesOf(number: number): number {
    if (number > MAX_BLOCKS) throw new StorageError("too-large", `The file needs more than ${MAX_BLOCKS} blocks.`);
    return Math.min(MAX_HELD_PART_BYTES, blockBytes * 2 ** Math.floor((number - 1) / BLOCKS_OF_ONE_SIZE));
  }

  return { writeFile, putContent, ...targets };
}

/**
 * Creates the marker of a folder.
 * @throws StorageError `precondition-failed` if another writer was faster.
 */
export async function putFolderMarker(client: AzureClient, folder: string): Promise<void> {
  const writer = crypto.randomUUID();
  const own = { "x-ms-blob-type": "BlockBlob", "x-ms-blob-content-type": "application/x-directory", [WRITER]: writer };
  const body = new Uint8Array(0);
  await changeBlob(client, {
    key: folder,
    writer,
    conditions: { ifNoneMatch: "*" },
    isKnownToBeFree: true,
    what: `PUT ${folder}`,
    send: (headers) => client.call({ method: "PUT", key: folder, body, headers: { ...headers, ...own } }),
  });
}
