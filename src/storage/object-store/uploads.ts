import { hasCode, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { checkUploadKey } from "../upload-checks.ts";
import { createUploadWriters } from "../upload-writers.ts";
import { createAppend } from "./uploads/append.ts";
import type { UploadBucket } from "./uploads/bucket.ts";
import { createCompletion } from "./uploads/completion.ts";
import { createJoin } from "./uploads/join.ts";
import { createObjectUploadStates, type UploadVersion } from "./uploads/states.ts";
import { type StoredUpload, toClosed, toOffset, toUploadState } from "./uploads/stored-upload.ts";

export type { FileParts, HiddenObjects, MultipartUpload, NewFile, UploadBucket } from "./uploads/bucket.ts";
export { createJoin };

/** How many states a listing reads at the same time. */
const PARALLEL_READS = 16;
/** How often an upload is looked at again because others have changed it. */
const MAX_ROUNDS = 12;

/**
 * Creates the uploads of a storage in a bucket.
 *
 * The full parts of an upload are parts of a multipart upload of the bucket. What is less than a part is an object of
 * its own, which is read again in front of the next content. A small object has the state. It is only ever replaced by
 * a condition on its version, so of two processes that use an upload the later one wins, and the other one notices.
 *
 * Uploads can be joined with `toJoin`. Applications over buckets without joins do not load it.
 */
export function createObjectUploads(bucket: UploadBucket, toJoin?: typeof createJoin): StorageUploads {
  const states = createObjectUploadStates(bucket);
  const writers = createUploadWriters();
  const appendTo = createAppend(bucket, states);
  const completion = createCompletion(bucket, states);
  const canJoin = toJoin !== undefined;

  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    checkUploadKey(key);
    const { size, note, expires, signal, isPartial, isNamedLater } = draft;
    signal?.throwIfAborted();
    const location = bucket.locate(path);
    await bucket.checkTarget(location, draft);
    bucket.toPartBytes(size);
    const folder = await bucket.identifyFolder(location.parent ?? bucket.prefix);
    if (folder === undefined) throw new StorageError("parent-missing");
    const created = bucket.clock();
    const upload: StoredUpload = {
      key: { owner: key.owner, id: key.id },
      path,
      ...(size !== undefined && { size }),
      note,
      created,
      modified: created,
      expires: expires.getTime(),
      folder,
      mark: crypto.randomUUID(),
      ...(canJoin && isPartial === true && { isPartial }),
      ...(isNamedLater === true && { isNamedLater }),
    };
    if (!(await states.create(upload))) throw new StorageError("already-exists");
    return toUploadState(upload, bucket);
  }

  /** Returns an upload that is not lost. @throws StorageError `not-found` */
  async function open(key: UploadKey): Promise<UploadVersion> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const found = await states.read(key);
      if (found === undefined || found.upload.isRemoved === true || found.upload.isLost === true)
        throw new StorageError("not-found");
      const { upload } = found;
      if (upload.done !== undefined) return found;
      const isKept = await isThere(upload);
      // A completion turns the parts into the file, so the file is looked for after the parts.
      const entry = await findFile(upload);
      if (entry !== undefined) await completion.markDone(found, entry);
      else if (isKept) return found;
      else if (await lose(found)) throw new StorageError("not-found");
    }
    throw new StorageError("locked", "Other calls keep changing the upload.");
  }

  /** Returns the file of an upload whose completion has started, and was not noted as ended. */
  async function findFile({ target, mark }: StoredUpload): Promise<StorageEntry | undefined> {
    return target === undefined ? undefined : bucket.findMarked(bucket.locate(target), mark);
  }

  /** Whether the folder of an upload is still the same, and its parts are still there. */
  async function isThere(upload: StoredUpload): Promise<boolean> {
    const { parent = bucket.prefix } = bucket.locate(upload.path);
    const [found, areThere] = await Promise.all([bucket.identifyFolder(parent), hasParts(upload)]);
    return areThere && isSameFolder(upload.folder, found);
  }

  async function hasParts(upload: StoredUpload): Promise<boolean> {
    const { parts, isWhole, mark } = upload;
    if (parts === undefined || parts.tags.length === 0) return true;
    const key = states.toPartsKey(upload);
    if (await bucket.hasUpload({ key, id: parts.id })) return true;
    // The parts may have become an object, so the object is looked for after the parts.
    return isWhole === true && (await bucket.objects.findObject(key, mark)) !== undefined;
  }

  /** Notes that an upload is lost, and frees its bytes. Returns `false` if another caller has changed it. */
  async function lose(version: UploadVersion): Promise<boolean> {
    const lost = await states.replace(version, { ...version.upload, isLost: true });
    if (lost === undefined) return false;
    await removeRest(lost);
    return true;
  }

  /** Removes what an upload consists of. What cannot be removed now is removed by its discard, or a later listing. */
  async function removeRest({ upload }: UploadVersion): Promise<void> {
    await states.removeAll(upload).catch(() => undefined);
  }

  function find(key: UploadKey): Promise<UploadState | undefined> {
    return writers.run(key, async () => {
      try {
        const found = await open(key);
        // An append of another process must not add bytes after the offset that is returned here.
        const { upload } = found.upload.isOpen === true ? await states.change(found, toClosed) : found;
        return toUploadState(upload, bucket);
      } catch (error) {
        if (hasCode(error, "not-found")) return undefined;
        throw error;
      }
    });
  }

  function append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options: AppendOptions = {},
  ): Promise<UploadState> {
    const run = async (signal: AbortSignal, stop: () => void): Promise<UploadState> => {
      const opened = await states.change(await open(key), (upload) => {
        if (upload.done !== undefined || toOffset(upload, bucket) !== offset) throw new StorageError("offset-mismatch");
        return { ...upload, isOpen: true };
      });
      const controls = { signal, stop, lose };
      return toUploadState(await appendTo(opened, content, options, controls), bucket);
    };
    return writers.append(key, run, options.signal);
  }

  function update(key: UploadKey, { size, note, expires }: UploadChange): Promise<UploadState> {
    return writers.run(key, async () => {
      const { upload } = await states.change(await open(key), (current) => ({
        ...current,
        ...(size !== undefined && { size }),
        ...(note !== undefined && { note }),
        ...(expires !== undefined && { expires: expires.getTime() }),
      }));
      return toUploadState(upload, bucket);
    });
  }

  function complete(key: UploadKey, options: CompleteOptions = {}): Promise<StorageEntry> {
    return writers.run(key, async () => {
      const found = await open(key);
      options.signal?.throwIfAborted();
      return completion.complete(found, options, lose);
    });
  }

  function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    return writers.run(key, async () => {
      const found = await states.read(key);
      if (found === undefined || found.upload.isRemoved === true) return undefined;
      try {
        const removed = await states.change(found, (upload) => ({ ...upload, isRemoved: true }));
        await removeRest(removed);
        return (await isFile(removed.upload)) ? "done" : "unfinished";
      } catch (error) {
        if (hasCode(error, "not-found")) return undefined;
        throw error;
      }
    });
  }

  /**
   * Whether a removed upload has become a file. Without its parts, a completion in progress fails. Only one of less
   * than a part, in another process, may still succeed at this moment.
   */
  async function isFile(upload: StoredUpload): Promise<boolean> {
    return upload.done !== undefined || (await findFile(upload).catch(() => undefined)) !== undefined;
  }

  async function* list(owner?: string): AsyncGenerator<UploadState> {
    const folders = new Map<string, Promise<string | undefined>>();
    for await (const keys of states.listKeys(owner)) {
      const found: UploadState[] = [];
      await inParallel(keys, { most: PARALLEL_READS }, async (key) => {
        const state = await describe(key, folders);
        if (state !== undefined) found.push(state);
      });
      yield* found;
    }
  }

  /** Returns the state in an object. Removes what a killed process has left, and finds uploads that are lost. */
  async function describe(
    stateKey: string,
    folders: Map<string, Promise<string | undefined>>,
  ): Promise<UploadState | undefined> {
    const found = await states.readFrom(stateKey);
    if (found === undefined) return undefined;
    const { upload } = found;
    if (upload.isRemoved === true) {
      await removeRest(found);
      return undefined;
    }
    if (upload.done === undefined && upload.isLost !== true) {
      const { parent = bucket.prefix } = bucket.locate(upload.path);
      const folder = folders.get(parent) ?? bucket.identifyFolder(parent);
      folders.set(parent, folder);
      if (!isSameFolder(upload.folder, await folder)) return (await find(upload.key)) ?? describe(stateKey, folders);
    }
    return toUploadState(upload, bucket);
  }

  const join = canJoin && toJoin(bucket, states, { open, lose, withLock: writers.run });
  return { create, find, append, update, complete, discard, list, ...(join && { join }) };
}

/** A folder that had no marker, or has none any more, is known by its path alone. */
function isSameFolder(before: string, found: string | undefined): boolean {
  return found !== undefined && (before === "" || found === "" || before === found);
}
