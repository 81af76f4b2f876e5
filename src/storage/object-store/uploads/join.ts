import { StorageError } from "../../../contracts/storage-adapter.ts";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { JoinOptions, UploadKey } from "../../../contracts/storage-uploads.ts";
import { inParallel } from "../../../platform/in-parallel.ts";
import { isCode } from "../transfers.ts";
import type { NewFile, PartCopies, UploadBucket } from "./bucket.ts";
import type { JoinSource } from "./join-plan.ts";
import { createJoinedFiles } from "./joined-file.ts";
import type { ObjectUploadStates, UploadVersion } from "./states.ts";
import { type StoredUpload, toClosed, toOffset, toPartCount } from "./stored-upload.ts";

/** What a join needs of the uploads. */
export interface JoinWays {
  /** Returns an upload that is not lost. @throws StorageError `not-found` */
  open(key: UploadKey): Promise<UploadVersion>;
  /** Runs one call for an upload at a time. */
  inTurn<T>(key: UploadKey, work: () => Promise<T>): Promise<T>;
  /** Frees an upload whose parts are gone. `false`: another caller has changed it. */
  lose(version: UploadVersion): Promise<boolean>;
}

/** How many uploads are made objects at the same time. */
const PARALLEL_UPLOADS = 16;

/** Joins uploads to a file. */
export type Join = (keys: readonly UploadKey[], path: string, options?: JoinOptions) => Promise<StorageEntry>;

/**
 * Creates the {@link Join} of a storage. A bucket can copy objects, not parts. So each upload becomes an object that
 * only the storage sees; it stays for the next join until the upload is discarded.
 */
export function createJoin(bucket: UploadBucket, copies: PartCopies, states: ObjectUploadStates, ways: JoinWays): Join {
  const files = createJoinedFiles(bucket, copies, states);

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
    const objects = await forEach(keys, (key) => toSource(found.get(toName(key)) as UploadVersion));
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
      results.set(name, await ways.inTurn(key, () => task(key)));
    });
    return results;
  }

  /** Opens an upload to which no running append adds anything any more. */
  async function openClosed(key: UploadKey): Promise<UploadVersion> {
    const found = await ways.open(key);
    const { upload } = found;
    if (upload.done !== undefined) throw new StorageError("not-found");
    if (toPartCount(upload) > 0 && upload.isPartial !== true) {
      throw new StorageError("unsupported", "The upload was not created to be joined.");
    }
    return upload.isOpen === true ? states.change(found, toClosed) : found;
  }

  /** Returns the object with the bytes of an upload; `undefined` if it has none. */
  async function toSource(found: UploadVersion): Promise<JoinSource | undefined> {
    const { upload } = found;
    const bytes = toOffset(upload, bucket);
    if (toPartCount(upload) === 0) return upload.tail && { key: upload.tail.key, etag: "", bytes };
    // From now on no append can add anything, and a process that goes on after a crash knows what to look at.
    const version = upload.isWhole === true ? found : await states.change(found, toWhole);
    const object = upload.isWhole === true ? await findObject(version.upload) : undefined;
    const { key, etag, bytes: size } = object ?? (await makeObject(version));
    if (size !== bytes) throw new StorageError("unavailable", `${key}: ${size} of ${bytes} bytes`);
    return { key, etag, bytes };

    function toWhole(current: StoredUpload): StoredUpload {
      const isSame = current.done === undefined && toOffset(current, bucket) === bytes;
      if (!isSame) throw new StorageError("incomplete", "The upload was changed while it was joined.");
      return { ...toClosed(current), isWhole: true };
    }
  }

  function findObject(upload: StoredUpload): Promise<JoinSource | undefined> {
    return copies.findObject(states.toPartsKey(upload), upload.mark);
  }

  /** Makes the parts of an upload an object. */
  async function makeObject(version: UploadVersion): Promise<JoinSource> {
    const { upload } = version;
    try {
      await completeObject(upload);
    } catch (error) {
      // It may be there although no response says so, or because another process was faster.
      const object = await findObject(upload).catch(() => undefined);
      if (object !== undefined) return object;
      if (isCode(error, "not-found") && !(await ways.lose(version))) throw new StorageError("locked");
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
    const source = tail && { key: tail.key, etag: "", bytes: tail.bytes };
    const range = source && { source, first: 0, bytes: source.bytes };
    const last = range && (await copies.copyPart(multipart, tags.length + 1, range));
    await copies.completeObject(multipart, mark, last === undefined ? tags : [...tags, last]);
  }
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
