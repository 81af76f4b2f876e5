import type { UploadKey } from "../../../src/contracts/storage-uploads.ts";
import { createR2Storage, type R2Bucket } from "../../../src/storage/r2.ts";
import { inChunks } from "../../../src/testing/storage/content.ts";

/** Where the storage of a killed append is. */
export interface KilledStorage {
  readonly bucket: R2Bucket;
  readonly prefix: string;
  readonly partBytes: number;
}

/**
 * Starts an append in a storage of its own, which stands for a process, and kills it: when R2 has stored the first part
 * and its note, or, with `verify`, only the part. From that moment on nothing of it reaches R2, and nothing comes back.
 */
export async function killAppend(
  { bucket, prefix, partBytes }: KilledStorage,
  key: UploadKey,
  offset: number,
  bytes: Uint8Array,
  { verify }: { readonly verify: boolean },
): Promise<void> {
  let die: () => void = () => undefined;
  const isDead = new Promise<void>((resolve) => {
    die = resolve;
  });
  let hasSentPart = false;
  let isAlive = true;

  /** Asks R2, and gives the answer back only to the living. */
  async function ask<T>(work: () => Promise<T>, isLast: () => boolean = () => false): Promise<T> {
    if (!isAlive) return forever();
    const result = await work();
    if (isLast()) {
      isAlive = false;
      die();
    }
    return isAlive ? result : forever();
  }

  const dying: R2Bucket = {
    head: (name) => ask(() => bucket.head(name)),
    get: (name, options) => ask(() => bucket.get(name, options)),
    put: (name, value, options) =>
      ask(
        () => bucket.put(name, value, options),
        () => hasSentPart && name.endsWith("state.json"),
      ),
    delete: (names) => ask(() => bucket.delete(names)),
    list: (options) => ask(() => bucket.list(options)),
    async createMultipartUpload(name, options) {
      const { uploadId } = await ask(() => bucket.createMultipartUpload(name, options));
      return dying.resumeMultipartUpload(name, uploadId);
    },
    resumeMultipartUpload(name, uploadId) {
      const upload = bucket.resumeMultipartUpload(name, uploadId);
      return {
        uploadId,
        uploadPart(number, value) {
          return ask(
            () => upload.uploadPart(number, value),
            () => {
              hasSentPart = true;
              return verify;
            },
          );
        },
        abort: () => ask(() => upload.abort()),
        complete: (parts) => ask(() => upload.complete(parts)),
      };
    },
  };

  /** The content does not end, as the process dies before. */
  async function* content(): AsyncGenerator<Uint8Array> {
    yield* inChunks(bytes, 262_144);
    await forever();
  }

  const { uploads } = createR2Storage(dying, { prefix, partBytes });
  void uploads?.append(key, offset, content(), verify ? { verify: async () => undefined } : {});
  await isDead;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
