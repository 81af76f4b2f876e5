import { StorageError } from "../../contracts/storage-adapter.ts";
import { toFileContent } from "../file-content.ts";
import { isSuccessful, type StoreRequest } from "../object-store/http/client.ts";
import { type ObjectLocation, toLocation } from "../object-store/keys.ts";
import { toObjectEntry } from "../object-store/object-entry.ts";
import type { FileParts, MultipartUpload, NewFile, UploadBucket } from "../object-store/uploads.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import type { S3ConditionSupport } from "./conditional-change.ts";
import { codeOf, isMissing, toS3StorageError } from "./errors.ts";
import { headObject, isAnyBelow } from "./head.ts";
import { listObjects } from "./list.ts";
import { hasUpload, toFileHeaders } from "./multipart-parts.ts";
import { toFittingPartBytes, toPartPlan } from "./part-size.ts";
import { hasS3Properties } from "./properties.ts";
import { readFile } from "./read.ts";
import type { S3Remover } from "./remove.ts";
import { createS3TextObjects } from "./text-objects.ts";
import { createS3HiddenObjects, LOST } from "./upload-copies.ts";
import type { S3Writer } from "./write.ts";

/** What {@link createS3UploadBucket} is made of. */
export interface S3UploadBucketInput {
  readonly client: S3Client;
  readonly support: S3ConditionSupport;
  readonly writer: S3Writer;
  readonly remover: S3Remover;
}

/** Returns what resumable uploads need of a bucket. */
export function createS3UploadBucket({ client, support, writer, remover }: S3UploadBucketInput): UploadBucket {
  const { prefix, clock, partBytes, parallelParts } = client.settings;

  function locate(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("bad-name", "The path is not a possible key.");
    return location;
  }

  async function identifyFolder(folder: string): Promise<string | undefined> {
    if (folder === prefix) return "";
    const marker = await headObject(client, folder);
    if (marker !== undefined) return marker.writer ?? marker.modified.toISOString();
    return (await isAnyBelow(client, folder)) ? "" : undefined;
  }

  async function sendPart(upload: MultipartUpload, number: number, body: Uint8Array<ArrayBuffer>): Promise<string> {
    const { key, id } = upload;
    const request: StoreRequest = { method: "PUT", key, query: { partNumber: String(number), uploadId: id }, body };
    const response = await client.call(request);
    const tag = response.headers.get("etag");
    if (!isSuccessful(response) || tag === null) {
      const error = toS3StorageError(response, describeS3Request(request));
      throw LOST.test(codeOf(response)) ? new StorageError("not-found", error.message) : error;
    }
    await writer.uploads.handOver(upload);
    return tag;
  }

  async function abort(upload: MultipartUpload): Promise<void> {
    const { key, id } = upload;
    const request: StoreRequest = { method: "DELETE", key, query: { uploadId: id } };
    const response = await client.call(request);
    if (!isSuccessful(response) && !isMissing(response)) throw toS3StorageError(response, describeS3Request(request));
    await writer.uploads.handOver(upload);
  }

  async function complete({ location, mark, conditions }: NewFile, parts: FileParts) {
    let code = "";
    const onRefusal = (found: string): void => {
      code = found;
    };
    try {
      return await writer.completeParts(location, { ...parts, writer: mark, onRefusal }, conditions);
    } catch (error) {
      throw LOST.test(code) ? new StorageError("not-found", `${location.key}: ${code}`, { cause: error }) : error;
    }
  }

  async function findMarked(location: ObjectLocation, mark: string) {
    const found = await headObject(client, location.key);
    if (found?.writer !== mark) return undefined;
    const entry = toObjectEntry(location.name, found);
    return (await hasS3Properties(client, location)) ? { ...entry, hasProperties: true as const } : entry;
  }

  async function putBytes(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const request: StoreRequest = { method: "PUT", key, body, headers: toFileHeaders(crypto.randomUUID()) };
    const response = await client.call(request);
    if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
  }

  async function* readBytes(key: string): AsyncGenerator<Uint8Array> {
    const content = toFileContent(
      await readFile(client, { name: key, key, folder: `${key}/`, parent: prefix }, undefined),
    );
    try {
      yield* content.chunks();
    } finally {
      await content.close();
    }
  }

  async function removeObjects(keys: readonly string[]): Promise<void> {
    for (const key of keys) await remover.removeObject(key);
  }

  async function* listKeys(folder: string): AsyncGenerator<readonly string[]> {
    for await (const page of listObjects(client, folder)) yield page.map(({ key }) => key);
  }

  return {
    ...createS3TextObjects(client, support),
    objects: createS3HiddenObjects(client, support, writer.uploads),
    prefix,
    clock,
    memory: writer.memory,
    permits: writer.permits,
    maxSentBytes: partBytes * parallelParts,
    locate,
    checkTarget: (location, conditions) => writer.checkTarget(location, conditions, conditions.signal),
    identifyFolder,
    toPartBytes: (size) => toFittingPartBytes(partBytes, size),
    bytesOf: (first, number) => toPartPlan(first, undefined, false).bytesOf(number),
    begin: (key, mark) => writer.uploads.begin(key, toFileHeaders(mark)),
    sendPart,
    hasUpload: (upload) => hasUpload(client, upload),
    abort,
    complete,
    putFile: ({ location, mark, conditions }, bytes) => writer.putObject(location, bytes, conditions, mark),
    findMarked,
    putBytes,
    readBytes,
    removeObjects,
    listKeys,
  };
}
