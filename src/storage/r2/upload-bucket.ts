import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import type { UploadConditions } from "../../contracts/storage-uploads.ts";
import { toFileContent } from "../file-content.ts";
import { isKey, type ObjectLocation } from "../object-store/keys.ts";
import type { PartMemory } from "../object-store/part-memory.ts";
import { createPermits } from "../object-store/permits.ts";
import type { FileParts, HiddenObjects, MultipartUpload, NewFile, UploadBucket } from "../object-store/uploads.ts";
import type { R2Bucket, R2Metadata } from "./binding.ts";
import { toR2FileEntry } from "./list.ts";
import { listR2Objects } from "./pages.ts";
import { hasR2Properties } from "./properties.ts";
import { toSource } from "./read.ts";
import { createR2TextObjects, withRetries } from "./text-objects.ts";
import { MAX_PARTS, mapR2Errors, toCondition } from "./write.ts";

/** What {@link createR2UploadBucket} needs. */
export interface R2UploadBucketInput {
  readonly bucket: R2Bucket;
  readonly prefix: string;
  readonly partBytes: number;
  readonly memory: PartMemory;
  /** Returns the location of a path. @throws StorageError `bad-name` */
  locate(path: string): ObjectLocation;
  /** Checks location and conditions as a write does, and returns the entity-tag of the existing file. */
  checkTarget(location: ObjectLocation, conditions: UploadConditions): Promise<string | undefined>;
  isFolder(folder: string): Promise<boolean>;
}

/** Metadata by which an upload recognizes its file. */
const MARK = "fileferry-write";
/** Codes in the messages of R2: there is no such upload, or not the part with the entity-tag. */
const LOST = /\((?:10024|10025)\)/;

/** Returns what resumable uploads need of a bucket. R2 needs parts of one size, and cannot list them. */
export function createR2UploadBucket(input: R2UploadBucketInput): UploadBucket {
  const { bucket, prefix, partBytes, memory, locate, checkTarget, isFolder } = input;
  const resume = ({ key, id }: MultipartUpload) => bucket.resumeMultipartUpload(key, id);

  async function identifyFolder(folder: string): Promise<string | undefined> {
    if (folder === prefix) return "";
    const marker = isKey(folder) ? await mapR2Errors(() => bucket.head(folder)) : null;
    if (marker !== null) return marker.uploaded.toISOString();
    return (await isFolder(folder)) ? "" : undefined;
  }

  function toPartBytes(size = 0): number {
    bytesOf(partBytes, Math.ceil(size / partBytes));
    return partBytes;
  }

  function bytesOf(bytes: number, number: number): number {
    if (number > MAX_PARTS) throw new StorageError("too-large", `The file needs more than ${MAX_PARTS} parts.`);
    return bytes;
  }

  async function begin(key: string, mark: string): Promise<MultipartUpload> {
    const { uploadId } = await mapR2Errors(() => bucket.createMultipartUpload(key, toMetadata(mark)));
    return { key, id: uploadId };
  }

  async function sendPart(upload: MultipartUpload, number: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return (await mapUploadErrors(() => resume(upload).uploadPart(number, bytes))).etag;
  }

  async function abort(upload: MultipartUpload): Promise<void> {
    try {
      await mapUploadErrors(() => resume(upload).abort());
    } catch (error) {
      if (!hasCode(error, "not-found")) throw error;
    }
  }

  /** R2 completes uploads without conditions, so they are checked just before. */
  async function complete({ location, conditions }: NewFile, { upload, tags }: FileParts) {
    const parts = tags.map((etag, index) => ({ partNumber: index + 1, etag }));
    await checkTarget(location, conditions);
    conditions.signal?.throwIfAborted();
    return toEntry(location, await mapUploadErrors(() => resume(upload).complete(parts)));
  }

  async function putFile({ location, mark, conditions }: NewFile, bytes: Uint8Array<ArrayBuffer>) {
    const found = await checkTarget(location, conditions);
    const options = { ...toMetadata(mark), ...toCondition(conditions, found) };
    const object = await mapR2Errors(() => bucket.put(location.key, bytes, options));
    if (object === null) throw new StorageError("precondition-failed");
    return toEntry(location, object);
  }

  async function findMarked(location: ObjectLocation, mark: string) {
    const found = await mapR2Errors(() => bucket.head(location.key));
    return found?.customMetadata?.[MARK] === mark ? toEntry(location, found) : undefined;
  }

  async function toEntry(location: ObjectLocation, object: Parameters<typeof toR2FileEntry>[1]) {
    const entry = toR2FileEntry(location.name, object);
    const hasProperties = await hasR2Properties(bucket, location).catch(() => false);
    return hasProperties ? { ...entry, hasProperties } : entry;
  }

  async function putBytes(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await mapR2Errors(() => bucket.put(key, bytes));
  }

  async function* readObject(key: string, options?: Parameters<R2Bucket["get"]>[1]): AsyncGenerator<Uint8Array> {
    const found = await mapR2Errors(() => bucket.get(key, options));
    if (found === null) throw new StorageError("unavailable", `${key}: the object is missing`);
    const content = toFileContent({ body: found.body, source: toSource(found.body) });
    try {
      yield* content.chunks();
    } finally {
      await content.close();
    }
  }

  const objects: HiddenObjects = {
    minPartBytes: partBytes,

    async completeObject(upload, _mark, tags) {
      const parts = tags.map((etag, index) => ({ partNumber: index + 1, etag }));
      await mapUploadErrors(() => resume(upload).complete(parts));
    },

    async findObject(key, mark) {
      const found = await mapR2Errors(() => bucket.head(key));
      const isMarked = found?.customMetadata?.[MARK] === mark;
      return isMarked ? { key, etag: found.httpEtag, bytes: found.size } : undefined;
    },

    readRange: ({ source: { key }, first, bytes }) => readObject(key, { range: { offset: first, length: bytes } }),
    free: (upload) => abort(upload).catch(() => undefined),
  };

  async function removeObjects(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await mapR2Errors(() => bucket.delete([...keys]));
  }

  async function* listKeys(folder: string): AsyncGenerator<readonly string[]> {
    for await (const page of listR2Objects(bucket, folder)) yield page.map(({ key }) => key);
  }

  return {
    ...withRetries(createR2TextObjects(bucket)),
    objects,
    prefix,
    clock: Date.now,
    memory,
    permits: createPermits(Number.POSITIVE_INFINITY),
    maxSentBytes: 0,
    locate,
    async checkTarget(location, conditions) {
      await checkTarget(location, conditions);
    },
    identifyFolder,
    toPartBytes,
    bytesOf,
    begin,
    sendPart,
    hasUpload: async () => true,
    abort,
    complete,
    putFile,
    findMarked,
    putBytes,
    readBytes: (key) => readObject(key),
    removeObjects,
    listKeys,
  };
}

function toMetadata(mark: string): R2Metadata {
  return { customMetadata: { [MARK]: mark } };
}

/** As {@link mapR2Errors}. @throws StorageError `not-found` if R2 does not have the upload, or the part. */
async function mapUploadErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await mapR2Errors(work);
  } catch (error) {
    const { cause } = error as StorageError;
    if (cause instanceof Error && LOST.test(cause.message))
      throw new StorageError("not-found", "R2 lost it.", { cause });
    throw error;
  }
}
