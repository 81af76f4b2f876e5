import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { CompleteOptions } from "../../../contracts/storage-uploads.ts";
import { checkUploadName } from "../../upload-checks.ts";
import type { ObjectPart } from "../parts.ts";
import type { NewFile, UploadBucket } from "./bucket.ts";
import { readTailPart } from "./content.ts";
import { createJoinedFiles } from "./joined-file.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import {
  type StoredParts,
  type StoredUpload,
  toClosed,
  toDone,
  toDoneEntry,
  toOffset,
  toPartCount,
} from "./stored-upload.ts";
import { createUploadObjects, type LoseUpload } from "./upload-objects.ts";

/** Makes uploads files. */
export interface Completion {
  /** Makes an upload a file. `lose` frees an upload whose parts are gone; `false`: another caller has changed it. */
  complete(version: UploadVersion, options: CompleteOptions, lose: LoseUpload): Promise<StorageEntry>;
  /**
   * Notes that an upload has become a file, and frees its bytes. If that fails, a later call does it. `options` are
   * those of a completion, which learns by this whether another one has made the file.
   */
  markDone(version: UploadVersion, entry: StorageEntry, options?: CompleteOptions): Promise<void>;
}

/** Creates the {@link Completion} of a storage. */
export function createCompletion(bucket: UploadBucket, states: ObjectUploadStates): Completion {
  const objects = createUploadObjects(bucket, states);
  const files = createJoinedFiles(bucket, states);

  const complete: Completion["complete"] = async (found, options, lose) => {
    const isDone = toDoneEntry(found.upload);
    if (isDone !== undefined) {
      options.onRepeat?.();
      return isDone;
    }
    const { path = found.upload.path } = options;
    const location = bucket.locate(path);
    const check = (upload: StoredUpload): void => {
      if (upload.isPartial === true) throw new StorageError("unsupported", "The upload can only be joined.");
      if (upload.size !== undefined && upload.size !== toOffset(upload, bucket)) throw new StorageError("incomplete");
      checkUploadName(upload.path, path);
    };
    check(found.upload);
    await bucket.checkTarget(location, options);
    // From now on no append can add anything, and a process that goes on after a crash knows what to look at.
    const version = await states.change(found, (upload) => {
      check(upload);
      return upload.done === undefined ? { ...toClosed(upload), target: path } : upload;
    });
    const { upload } = version;
    if (upload.done !== undefined) return complete(version, options, lose);
    const file: NewFile = { location, mark: upload.mark, conditions: options };
    const isObject = upload.isNamedLater === true && toPartCount(upload) > 0;
    const make = (): Promise<StorageEntry> => (isObject ? storeNamed(file, version, lose) : store(file, upload));
    const entry = await make().catch((error: unknown) => settle(error));
    await markDone(version, entry, options);
    return entry;

    /** The file may be there although no response says so, or because another process was faster. */
    async function settle(error: unknown): Promise<StorageEntry> {
      const written = await bucket.findMarked(location, upload.mark).catch(() => undefined);
      if (written !== undefined) return written;
      const isLost = hasCode(error, "not-found") && !isObject;
      if (isLost && !(await lose(version))) throw new StorageError("locked");
      throw error;
    }
  };

  async function store(file: NewFile, upload: StoredUpload): Promise<StorageEntry> {
    const { parts, tail } = upload;
    const memory = bucket.memory.open({ signal: file.conditions.signal, end: () => undefined });
    try {
      const rest = tail && (await readTailPart(bucket, tail, memory));
      if (parts !== undefined && toPartCount(upload) > 0) return await storeParts(file, upload, parts, rest);
      return await bucket.putFile(file, rest?.bytes() ?? new Uint8Array(0));
    } finally {
      memory.close();
    }
  }

  /** The parts are those of an object that only the storage sees, and the object becomes the file. */
  async function storeNamed(file: NewFile, version: UploadVersion, lose: LoseUpload): Promise<StorageEntry> {
    const { key } = version.upload;
    const source = await objects.toSource(version, lose);
    const sources = source === undefined ? [] : [source];
    const size = source?.bytes ?? 0;
    return files.store({ file, sources, size, owner: undefined, firstKey: key });
  }

  async function storeParts(
    file: NewFile,
    upload: StoredUpload,
    { id, tags }: StoredParts,
    rest: ObjectPart | undefined,
  ): Promise<StorageEntry> {
    const multipart = { key: bucket.locate(upload.path).key, id };
    // The multipart upload is bound to its key, and its parts cannot be copied.
    if (multipart.key !== file.location.key) throw new StorageError("unsupported", "The upload has a name already.");
    const last = rest && (await bucket.sendPart(multipart, tags.length + 1, rest.bytes()));
    const allTags = last === undefined ? tags : [...tags, last];
    return bucket.complete(file, { upload: multipart, tags: allTags, size: toOffset(upload, bucket) });
  }

  async function markDone(version: UploadVersion, entry: StorageEntry, options?: CompleteOptions): Promise<void> {
    let isRepeat = false;
    const step = (upload: StoredUpload): StoredUpload => {
      isRepeat = upload.isMade === true;
      const done = upload.done === undefined ? toDone(upload, entry) : upload;
      return options ? { ...done, isMade: true } : done;
    };
    const done = await states.change(version, step).catch(() => undefined);
    if (isRepeat) options?.onRepeat?.();
    if (done === undefined) return;
    const { key, parts } = version.upload;
    const unused = [...(done.upload.joining ?? [])];
    if (parts?.tags.length === 0) unused.push({ key: states.toPartsKey(version.upload), id: parts.id });
    for (const multipart of unused) await bucket.abort(multipart).catch(() => undefined);
    await states.removeBytes(key).catch(() => undefined);
  }

  return { complete, markDone };
}
