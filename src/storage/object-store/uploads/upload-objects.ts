import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import type { MultipartUpload, UploadBucket } from "./bucket.ts";
import { readTailPart } from "./content.ts";
import type { JoinSource } from "./join-plan.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import { type StoredTail, type StoredUpload, toClosed, toOffset, toPartCount } from "./stored-upload.ts";

/** Frees an upload whose parts are gone. `false`: another caller has changed it. */
export type LoseUpload = (version: UploadVersion) => Promise<boolean>;

/** Makes uploads objects that only the storage sees. */
export interface UploadObjects {
  /**
   * Returns the object with the bytes of an upload; `undefined` if it has none. The object stays until the upload is
   * discarded or is a file.
   * @throws StorageError `not-found` if the parts are gone. `lose` has freed the upload then.
   */
  toSource(version: UploadVersion, lose: LoseUpload): Promise<JoinSource | undefined>;
}

/** Creates the {@link UploadObjects} of a storage. */
export function createUploadObjects(bucket: UploadBucket, states: ObjectUploadStates): UploadObjects {
  const toSource: UploadObjects["toSource"] = async (found, lose) => {
    const { upload } = found;
    const bytes = toOffset(upload, bucket);
    if (toPartCount(upload) === 0) return upload.tail && { key: upload.tail.key, etag: "", bytes: upload.tail.bytes };
    // From now on no append can add anything, and a process that goes on after a crash knows what to look at.
    const version = upload.isWhole === true ? found : await states.change(found, toWhole);
    const object = upload.isWhole === true ? await findObject(version.upload) : undefined;
    const { key, etag, bytes: size } = object ?? (await makeObject(version, lose));
    if (size !== bytes) throw new StorageError("unavailable", `${key}: ${size} of ${bytes} bytes`);
    return { key, etag, bytes };

    function toWhole(current: StoredUpload): StoredUpload {
      const isSame = current.done === undefined && toOffset(current, bucket) === bytes;
      if (!isSame) throw new StorageError("incomplete", "The upload was changed while it was joined.");
      return { ...toClosed(current), isWhole: true };
    }
  };

  function findObject(upload: StoredUpload): Promise<JoinSource | undefined> {
    return bucket.objects.findObject(states.toPartsKey(upload), upload.mark);
  }

  /** Makes the parts of an upload an object. */
  async function makeObject(version: UploadVersion, lose: LoseUpload): Promise<JoinSource> {
    const { upload } = version;
    try {
      await completeObject(upload);
    } catch (error) {
      // It may be there although no response says so, or because another process was faster.
      const object = await findObject(upload).catch(() => undefined);
      if (object !== undefined) return object;
      if (hasCode(error, "not-found") && !(await lose(version))) throw new StorageError("locked");
      throw error;
    }
    const object = await findObject(upload);
    if (object === undefined) throw new StorageError("unavailable", "The upload was joined, and is missing.");
    return object;
  }

  async function completeObject(upload: StoredUpload): Promise<void> {
    const { parts, tail, mark } = upload;
    const { id = "", tags = [] } = parts ?? {};
    const multipart = { key: states.toPartsKey(upload), id };
    const last = tail && (await sendTail(multipart, tags.length + 1, tail));
    await bucket.objects.completeObject(multipart, mark, last === undefined ? tags : [...tags, last]);
  }

  async function sendTail(multipart: MultipartUpload, number: number, tail: StoredTail): Promise<string> {
    const { copies } = bucket.objects;
    const source = { key: tail.key, etag: "", bytes: tail.bytes };
    if (copies !== undefined) return copies.copyPart(multipart, number, { source, first: 0, bytes: tail.bytes });
    const memory = bucket.memory.open({ end: () => undefined });
    try {
      return await bucket.sendPart(multipart, number, (await readTailPart(bucket, tail, memory)).bytes());
    } finally {
      memory.close();
    }
  }

  return { toSource };
}
