import { StorageError } from "../../../contracts/storage-adapter.ts";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { CompleteOptions } from "../../../contracts/storage-uploads.ts";
import { checkUploadName } from "../../upload-checks.ts";
import type { ObjectPart } from "../parts.ts";
import { isCode } from "../transfers.ts";
import type { NewFile, UploadBucket } from "./bucket.ts";
import { readTailPart } from "./content.ts";
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

/** Makes uploads files. */
export interface Completion {
  /** Makes an upload a file. `lose` frees an upload whose parts are gone; `false`: another caller has changed it. */
  complete(
    version: UploadVersion,
    options: CompleteOptions,
    lose: (version: UploadVersion) => Promise<boolean>,
  ): Promise<StorageEntry>;
  /** Notes that an upload has become a file, and frees its bytes. If that fails, a later call does it. */
  markDone(version: UploadVersion, entry: StorageEntry): Promise<void>;
}

/** Creates the {@link Completion} of a storage. */
export function createCompletion(bucket: UploadBucket, states: ObjectUploadStates): Completion {
  const complete: Completion["complete"] = async (found, options, lose) => {
    const isDone = toDoneEntry(found.upload);
    if (isDone !== undefined) return isDone;
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
    const file: NewFile = { location, mark: upload.mark, conditions: options };
    const entry = toDoneEntry(upload) ?? (await store(file, upload).catch((error: unknown) => settle(error)));
    await markDone(version, entry);
    return entry;

    /** The file may be there although no response says so, or because another process was faster. */
    async function settle(error: unknown): Promise<StorageEntry> {
      const written = await bucket.findMarked(location, upload.mark).catch(() => undefined);
      if (written !== undefined) return written;
      if (isCode(error, "not-found") && !(await lose(version))) throw new StorageError("locked");
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

  async function markDone(version: UploadVersion, entry: StorageEntry): Promise<void> {
    if (version.upload.done !== undefined) return;
    const done = await states.replace(version, toDone(version.upload, entry)).catch(() => undefined);
    if (done === undefined) return;
    const { key, path, parts } = version.upload;
    const isEmpty = parts?.tags.length === 0;
    if (isEmpty) await bucket.abort({ key: bucket.locate(path).key, id: parts.id }).catch(() => undefined);
    await states.removeBytes(key).catch(() => undefined);
  }

  return { complete, markDone };
}
