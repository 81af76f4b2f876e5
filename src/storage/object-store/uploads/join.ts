import { StorageError } from "../../../contracts/storage-adapter.ts";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { JoinOptions, UploadKey } from "../../../contracts/storage-uploads.ts";
import { inParallel } from "../../../platform/in-parallel.ts";
import type { NewFile, UploadBucket } from "./bucket.ts";
import { createJoinedFiles } from "./joined-file.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import { toClosed, toOffset, toPartCount } from "./stored-upload.ts";
import { createUploadObjects, type LoseUpload } from "./upload-objects.ts";

/** What a join needs of the uploads. */
export interface JoinControls {
  /** Returns an upload that is not lost. @throws StorageError `not-found` */
  open(key: UploadKey): Promise<UploadVersion>;
  /** Runs one call for an upload at a time. */
  withLock<T>(key: UploadKey, work: () => Promise<T>): Promise<T>;
  readonly lose: LoseUpload;
}

/** How many uploads are made objects at the same time. */
const PARALLEL_UPLOADS = 16;

/** Joins uploads to a file. */
export type Join = (keys: readonly UploadKey[], path: string, options?: JoinOptions) => Promise<StorageEntry>;

/**
 * Creates the {@link Join} of a storage. A bucket can copy objects, not parts. So each upload becomes an object that
 * only the storage sees; it stays for the next join until the upload is discarded.
 */
export function createJoin(bucket: UploadBucket, states: ObjectUploadStates, controls: JoinControls): Join {
  const files = createJoinedFiles(bucket, states);
  const { toSource } = createUploadObjects(bucket, states);

  return async function join(keys, path, options = {}) {
    const { signal, owner } = options;
    signal?.throwIfAborted();
    const location = bucket.locate(path);
    const found = await forEach(keys, openClosed);
    const versions = keys.map((key) => found.get(toName(key)) as UploadVersion);
    const size = versions.reduce((sum, { upload }) => sum + toOffset(upload, bucket), 0);
    if (options.size !== undefined && options.size !== size) throw new StorageError("incomplete");
    await bucket.checkTarget(location, options);
    signal?.throwIfAborted();
    const objects = await forEach(keys, (key) => toSource(found.get(toName(key)) as UploadVersion, controls.lose));
    const sources = keys.flatMap((key) => objects.get(toName(key)) ?? []);
    const file: NewFile = { location, mark: crypto.randomUUID(), conditions: options };
    return files.store({ file, sources, size, owner, firstKey: keys[0] });
  };

  /** Runs a task for each upload once, also for one that is named several times. */
  async function forEach<T>(
    keys: readonly UploadKey[],
    task: (key: UploadKey) => Promise<T>,
  ): Promise<ReadonlyMap<string, T>> {
    const results = new Map<string, T>();
    const unique = new Map(keys.map((key) => [toName(key), key]));
    await inParallel(unique, { most: PARALLEL_UPLOADS }, async ([name, key]) => {
      results.set(name, await controls.withLock(key, () => task(key)));
    });
    return results;
  }

  /** Opens an upload to which no running append adds anything any more. */
  async function openClosed(key: UploadKey): Promise<UploadVersion> {
    const found = await controls.open(key);
    const { upload } = found;
    if (upload.done !== undefined) throw new StorageError("not-found");
    if (toPartCount(upload) > 0 && upload.isPartial !== true) {
      throw new StorageError("unsupported", "The upload was not created to be joined.");
    }
    return upload.isOpen === true ? states.change(found, toClosed) : found;
  }
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
