import { type BigIntStats, constants, fstatSync } from "node:fs";
import type { StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { nameOf } from "../../contracts/storage-path.ts";
import type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  JoinOptions,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { acquireBuffer, dropBuffer, giveBack } from "../../platform/buffer-pool.ts";
import { receive } from "../content.ts";
import { checkUploadKey, checkUploadName, limitAppend } from "../upload-checks.ts";
import { createUploadWriters, throwIfSuperseded } from "../upload-writers.ts";
import { checkTarget, commit } from "./commit.ts";
import type { DiskAccess } from "./copy-and-move.ts";
import { mapMissingParent, mapSystemErrors, undefinedIfMissing } from "./errors.ts";
import { type OpenFolder, withFolder } from "./open-folder.ts";
import { withPropertiesMark } from "./properties.ts";
import { tryUnlink } from "./remove.ts";
import { BIGINT, closeFile, readDescriptor } from "./system-calls.ts";
import { createContentStore, watched } from "./uploads/append.ts";
import { toFileEntry, toLostState, toState, toStateOf, toStoredEntry, toTarget } from "./uploads/convert.ts";
import { createUploadAccess, type OpenBytes, type OpenUpload } from "./uploads/open.ts";
import { createUploadStates, type DiskUpload, toBytesName } from "./uploads/states.ts";
import { createFile, finishFile } from "./write.ts";

const READ_BYTES = 524_288;

export {
  createMovedUploadCleanUp,
  createUploadCleanUp,
  type Locate,
  type UploadCleanUp,
} from "./uploads/clean-up.ts";

/**
 * Creates the uploads of a disk storage. The bytes of an upload are a temporary file next to the file to be, so its
 * completion is one rename. The size of that file is the offset.
 */
export function createDiskUploads({
  tree,
  durability,
  openParent,
  locate,
  self,
}: Pick<DiskAccess, "tree" | "durability" | "openParent" | "locate" | "self">): StorageUploads {
  const mustFlush = durability === "fsync";
  const states = createUploadStates(tree, { mustFlush });
  const access = createUploadAccess({ tree, durability, locate }, states);
  const { withUpload, openFolderOf } = access;
  const { store, storeChecked } = createContentStore(access, states);
  const writers = createUploadWriters();

  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    checkUploadKey(key);
    draft.signal?.throwIfAborted();
    const { parent, name } = await openParent(path, "not-a-file");
    return withFolder(parent, async (folder) => {
      const previous = await mapMissingParent(checkTarget(folder, name, draft));
      return writers.run(key, () => access.withNewUpload(key, () => createIn(folder, previous)));
    });

    async function createIn(folder: OpenFolder, previous: BigIntStats | undefined): Promise<UploadState> {
      if ((await states.read(key)) !== undefined) throw new StorageError("already-exists");
      const { size, note, expires } = draft;
      const upload: DiskUpload = {
        key: { ...key },
        path,
        ...(size !== undefined && { size }),
        note,
        created: Date.now(),
        expires: expires.getTime(),
      };
      // The state comes first: bytes without a state are removed when the storage is opened.
      await states.write(upload);
      try {
        const descriptor = await createFile(folder, toBytesName(key), previous);
        await access.flush(descriptor).finally(() => closeFile(descriptor, { isQuick: true }));
        if (mustFlush) await folder.sync();
      } catch (error) {
        await tryUnlink(folder, toBytesName(key));
        await states.remove(key).catch(() => undefined);
        throw error;
      }
      return toState(upload, 0, upload.created);
    }
  }

  /** Runs a short call with the lock of an upload. @throws StorageError `not-found` if there is none. */
  function use<T>(
    key: UploadKey,
    work: (open: OpenUpload) => Promise<T>,
    whenLost?: (upload: DiskUpload) => Promise<T>,
  ): Promise<T> {
    return writers.run(key, () => withUpload(key, work, whenLost && { whenLost }));
  }

  async function find(key: UploadKey): Promise<UploadState | undefined> {
    const found = await findEvenLost(key);
    return found?.lost === true ? undefined : found;
  }

  async function findEvenLost(key: UploadKey): Promise<UploadState | undefined> {
    const work = async ({ upload, bytes }: OpenUpload): Promise<UploadState> => {
      // What a process wrote that has ended may not be on the disk yet.
      return toStateOf(upload, bytes && (await access.flushOnce(key, bytes.descriptor)));
    };
    return use(key, work, async (upload) => toLostState(upload)).catch(undefinedIfMissing);
  }

  function append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options: AppendOptions = {},
  ): Promise<UploadState> {
    return writers.append(
      key,
      (signal, stop) =>
        withUpload(
          key,
          ({ upload, bytes }, lock) => {
            if (bytes === undefined || Number(bytes.stats.size) !== offset) throw new StorageError("offset-mismatch");
            throwIfSuperseded(signal);
            const { descriptor } = bytes;
            const chunks = watched(limitAppend(receive(content, { signal }), options), lock);
            const target = { upload, descriptor, offset, signal };
            return options.verify === undefined ? store(target, chunks) : storeChecked(target, chunks, options.verify);
          },
          { onTakeover: stop, signal },
        ),
      options.signal,
    );
  }

  function update(key: UploadKey, { size, note, expires }: UploadChange): Promise<UploadState> {
    return use(key, async ({ upload, bytes }) => {
      const changed: DiskUpload = {
        ...upload,
        ...(size !== undefined && { size }),
        ...(note !== undefined && { note }),
        ...(expires !== undefined && { expires: expires.getTime() }),
      };
      await states.write(changed);
      return toStateOf(changed, bytes?.stats);
    });
  }

  function complete(key: UploadKey, options: CompleteOptions = {}): Promise<StorageEntry> {
    return use(key, async ({ upload, bytes }) => {
      options.signal?.throwIfAborted();
      if (upload.isDone === true && upload.target !== undefined) {
        options.onRepeat?.();
        return toFileEntry(upload.target);
      }
      if (bytes === undefined) throw new StorageError("not-found");
      if (upload.size !== undefined && upload.size !== Number(bytes.stats.size)) throw new StorageError("incomplete");
      const path = options.path ?? upload.path;
      checkUploadName(upload.path, path);
      if (!tree.isValidName(nameOf(path))) throw new StorageError("bad-name");
      return mapMissingParent(replaceTarget(upload, bytes, path, options));
    });
  }

  /** Makes the bytes of an upload the file at a path of its folder. */
  async function replaceTarget(
    upload: DiskUpload,
    { folder, descriptor }: OpenBytes,
    path: string,
    options: CompleteOptions,
  ): Promise<StorageEntry> {
    const [name, temporary] = [nameOf(path), toBytesName(upload.key)];
    const previous = await checkTarget(folder, name, options);
    const written = await mapSystemErrors(finishFile(descriptor, previous, durability, undefined));
    const target = toTarget(path, name, written);
    // If the process ends after the rename, the next call sees by this that the upload is done.
    await states.write({ ...upload, target });
    const steps = { isRecent: false, isQuick: false, mustFlush };
    const { isHardLinked, mayHaveProperties } = await commit(
      folder,
      { temporary, name, previous, written, ...steps },
      options,
    );
    if (isHardLinked) await tryUnlink(folder, temporary);
    if (mustFlush) await folder.sync();
    const found = toFileEntry(target);
    const entry = mayHaveProperties ? await withPropertiesMark(folder, written, found) : found;
    await access.markDone({ ...upload, target: { ...target, entry: toStoredEntry(entry) } });
    return entry;
  }

  async function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    const removeState = async (removed: DiscardedUpload): Promise<DiscardedUpload | undefined> =>
      (await states.remove(key)) ? removed : undefined;
    const work = async ({ bytes }: OpenUpload): Promise<DiscardedUpload | undefined> => {
      const removed = await removeState(bytes === undefined ? "done" : "unfinished");
      if (bytes !== undefined) await tryUnlink(bytes.folder, toBytesName(key));
      return removed;
    };
    return use(key, work, () => removeState("unfinished")).catch(undefinedIfMissing);
  }

  async function* list(owner?: string): AsyncGenerator<UploadState> {
    for await (const upload of states.list(owner)) {
      const state = await describe(upload);
      if (state !== undefined) yield state;
    }
  }

  /** Returns the state of an upload without its lock; `undefined` if there is none any more. */
  async function describe(upload: DiskUpload): Promise<UploadState | undefined> {
    if (upload.isDone === true) return toStateOf(upload, undefined);
    const folder = await openFolderOf(upload);
    const stats = folder && (await withFolder(folder, (opened) => opened.lookUp(toBytesName(upload.key))));
    // Its creation or completion may run just now, or it is lost: only a call with the lock can say.
    if (stats === undefined) return findEvenLost(upload.key);
    return toStateOf(upload, stats);
  }

  async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
    yield* readWith(key, (most) => Buffer.allocUnsafe(most));
  }

  /** Yields the bytes of an upload, in the buffers that `toBuffer` returns. */
  async function* readWith(key: UploadKey, toBuffer: (most: number) => Uint8Array): AsyncGenerator<Uint8Array> {
    const upload = await states.read(key);
    const folder = upload && (await openFolderOf(upload));
    if (folder === undefined) throw new StorageError("not-found");
    const descriptor = await withFolder(folder, (opened) => opened.openFile(toBytesName(key), constants.O_RDONLY));
    try {
      const end = upload?.checkedTo ?? Number(fstatSync(descriptor, BIGINT).size);
      for (let position = 0; position < end; ) {
        const most = Math.min(READ_BYTES, end - position);
        const buffer = toBuffer(most);
        const length = Math.min(most, buffer.byteLength);
        const count = await mapSystemErrors(readDescriptor(descriptor, buffer, length, position));
        if (count === 0) throw new StorageError("unavailable", "The bytes of the upload have become fewer.");
        position += count;
        yield buffer.subarray(0, count);
      }
    } finally {
      // The upload may have been discarded meanwhile: then this frees its bytes.
      await closeFile(descriptor);
    }
  }

  async function join(keys: readonly UploadKey[], path: string, options: JoinOptions = {}): Promise<StorageEntry> {
    let size = 0;
    for (const key of keys) {
      const found = await find(key);
      if (found === undefined || found.done !== undefined) throw new StorageError("not-found");
      size += found.offset;
    }
    if (options.size !== undefined && options.size !== size) throw new StorageError("incomplete");
    async function* content(): AsyncGenerator<Uint8Array> {
      // A storage copies what it keeps of a chunk before it asks for the next one.
      const buffer = acquireBuffer(READ_BYTES);
      let isComplete = false;
      try {
        for (const key of keys) yield* readWith(key, () => buffer);
        isComplete = true;
      } finally {
        // A write that is cut off may still read it.
        (isComplete ? giveBack : dropBuffer)(buffer);
      }
    }
    const storage: StorageAdapter = self();
    return storage.write(path, content(), { ...options, size });
  }

  return { create, find, append, update, complete, discard, list, read, join };
}
