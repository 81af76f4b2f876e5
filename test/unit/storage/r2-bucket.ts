import { createHash } from "node:crypto";
import type { R2Bucket, R2Metadata, R2Object } from "../../../src/storage/r2.ts";

/** An object with its bytes. */
interface Stored extends R2Object {
  readonly bytes: Uint8Array;
}

/** A part of a multipart upload. */
interface StoredPart {
  readonly etag: string;
  readonly bytes: Uint8Array;
}

/** A bucket in memory, and its objects. */
export interface MemoryBucket {
  readonly bucket: R2Bucket;
  readonly objects: Map<string, Stored>;
  /** The multipart uploads that have not ended, by their ids. */
  readonly uploads: Map<string, { readonly metadata: R2Metadata; readonly parts: Map<number, StoredPart> }>;
  /** Stores text as another program would. */
  set(key: string, text: string): void;
  text(key: string): string | undefined;
}

/** Creates a bucket in memory. `onCall` is called before each change, and may throw in its stead. */
export function createMemoryBucket(onCall: (call: string, key: string) => void = () => undefined): MemoryBucket {
  const objects = new Map<string, Stored>();
  const uploads: MemoryBucket["uploads"] = new Map();
  let sentParts = 0;

  function store(key: string, bytes: Uint8Array, metadata: R2Metadata, tag?: string): Stored {
    const etag = tag ?? createHash("md5").update(bytes).digest("hex");
    const { httpMetadata, customMetadata } = metadata;
    const kept = { ...(httpMetadata && { httpMetadata }), ...(customMetadata && { customMetadata }) };
    const object = { key, size: bytes.byteLength, httpEtag: `"${etag}"`, uploaded: new Date(0), bytes, ...kept };
    objects.set(key, object);
    return object;
  }

  const bucket: R2Bucket = {
    head: async (key) => objects.get(key) ?? null,
    async get(key, { range: { offset, length } = { offset: 0, length: Number.POSITIVE_INFINITY } } = {}) {
      const found = objects.get(key);
      return found === undefined
        ? null
        : { ...found, body: new Blob([found.bytes.slice(offset, offset + length)]).stream() };
    },
    async put(key, value, { onlyIf, ...metadata } = {}) {
      onCall("put", key);
      const tag = objects.get(key)?.httpEtag.slice(1, -1);
      const isMet = onlyIf === undefined || ("etagMatches" in onlyIf ? onlyIf.etagMatches === tag : tag === undefined);
      return isMet ? store(key, value.slice(), metadata) : null;
    },
    async delete(keys) {
      for (const key of keys) {
        onCall("delete", key);
        objects.delete(key);
      }
    },
    async list({ prefix = "", delimiter, cursor, limit = 1000, startAfter = "" }) {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).map((key) => toListed(key));
      function toListed(key: string): string {
        const end = delimiter === undefined ? -1 : key.indexOf(delimiter, prefix.length);
        return end === -1 ? key : key.slice(0, end + 1);
      }
      const start = cursor ?? startAfter;
      const all = [...new Set(keys)].filter((key) => key > start).sort();
      const page = all.slice(0, limit);
      const isFolder = (key: string): boolean => delimiter !== undefined && key.endsWith("/") && key !== prefix;
      const truncated = all.length > limit;
      return {
        objects: page.filter((key) => !isFolder(key)).flatMap((key) => objects.get(key) ?? []),
        delimitedPrefixes: page.filter(isFolder),
        truncated,
        ...(truncated && { cursor: page.at(-1) ?? "" }),
      };
    },
    async createMultipartUpload(key, metadata = {}) {
      onCall("create", key);
      const id = `upload-${uploads.size + 1}-${key}`;
      uploads.set(id, { metadata, parts: new Map() });
      return bucket.resumeMultipartUpload(key, id);
    },
    resumeMultipartUpload(key, uploadId) {
      function find() {
        const upload = uploads.get(uploadId);
        if (upload === undefined) throw new Error("The specified multipart upload does not exist. (10024)");
        return upload;
      }
      return {
        uploadId,
        async uploadPart(partNumber, value) {
          onCall("part", key);
          sentParts += 1;
          const part = { etag: `part-${sentParts}`, bytes: value.slice() };
          find().parts.set(partNumber, part);
          return { partNumber, etag: part.etag };
        },
        async abort() {
          onCall("abort", key);
          find();
          uploads.delete(uploadId);
        },
        async complete(wanted) {
          onCall("complete", key);
          const { parts, metadata } = find();
          const found = wanted.map(({ partNumber, etag }) => {
            const part = parts.get(partNumber);
            if (part?.etag !== etag) throw new Error("One or more of the specified parts could not be found. (10025)");
            return part.bytes;
          });
          uploads.delete(uploadId);
          return store(key, Buffer.concat(found), metadata, `parts-of-${key}-${found.length}-${sentParts}`);
        },
      };
    },
  };
  return {
    bucket,
    objects,
    uploads,
    set: (key, text) => void store(key, Buffer.from(text), {}),
    text: (key) => objects.get(key)?.bytes && Buffer.from(objects.get(key)?.bytes ?? []).toString(),
  };
}
