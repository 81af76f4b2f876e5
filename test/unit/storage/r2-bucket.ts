import { createHash } from "node:crypto";
import type { R2Bucket, R2Metadata, R2Object } from "../../../src/storage/r2.ts";

/** An object with its bytes. */
interface Stored extends R2Object {
  readonly bytes: Uint8Array;
}

/** A bucket in memory, and its objects. */
export interface MemoryBucket {
  readonly bucket: R2Bucket;
  readonly objects: Map<string, Stored>;
  /** Stores text as another program would. */
  set(key: string, text: string): void;
  text(key: string): string | undefined;
}

/** Creates a bucket in memory. `onCall` is called before each change, and may throw in its stead. */
export function createMemoryBucket(onCall: (call: string, key: string) => void = () => undefined): MemoryBucket {
  const objects = new Map<string, Stored>();

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
    async get(key) {
      const found = objects.get(key);
      return found === undefined ? null : { ...found, body: new Blob([found.bytes.slice()]).stream() };
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
      const parts = new Map<number, Uint8Array>();
      return {
        async uploadPart(partNumber, value) {
          parts.set(partNumber, value.slice());
          return { partNumber, etag: "part" };
        },
        async abort() {
          onCall("abort", key);
        },
        async complete() {
          onCall("complete", key);
          const bytes = Buffer.concat([...parts].sort(([one], [other]) => one - other).map(([, value]) => value));
          return store(key, bytes, metadata, `parts-of-${key}-${parts.size}`);
        },
      };
    },
  };
  return {
    bucket,
    objects,
    set: (key, text) => void store(key, Buffer.from(text), {}),
    text: (key) => objects.get(key)?.bytes && Buffer.from(objects.get(key)?.bytes ?? []).toString(),
  };
}
