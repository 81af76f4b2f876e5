import { constants, fstatSync } from "node:fs";
import type { StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { nameOf } from "../../contracts/storage-path.ts";
import type {
  AppendOptions,
  CompleteOptions,
  JoinOptions,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { receive } from "../content.ts";
import { checkUploadKey, checkUploadName, limitAppend } from "../upload-checks.ts";
import { createUploadWriters } from "../upload-writers.ts";
import { checkTarget, commit } from "./commit.ts";
import { mapErrorCode, mapSystemErrors, undefinedIfMissing } from "./errors.ts";
import { withFolder } from "./open-folder.ts";
import { withPropertiesMark } from "./properties.ts";
import { closeFile, readDescriptor } from "./system-calls.ts";
import type { DiskAccess } from "./transfers.ts";
import { createContentStore, watched } from "./uploads/append.ts";
import { toFileEntry, toState, toStateOf, toStoredEntry, toTarget } from "./uploads/convert.ts";
import { createUploadAccess, type OpenUpload, tryUnlink } from "./uploads/open.ts";
import { createUploadStates, type DiskUpload, toBytesName } from "./uploads/states.ts";
import { createFile, finishFile } from "./write.ts";

const BIGINT = { bigint: true } as const;
const READ_BYTES = 1_048_576;
/** An upload may be without bytes for this time, while another call, perhaps of another process, creates it. */
const CREATION_MS = 60_000;

export { createUploadCleanUp, type Locate, type UploadCleanUp } from "./uploads/clean-up.ts";

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
  const isFlushed = durability === "fsync";
  const states = createUploadStates(tree, isFlushed);
  const access = createUploadAccess({ tree, durability, locate }, states);
  const { withUpload, openFolderOf } = access;
  const { store, storeChecked } = createContentStore(access, states);
  const writers = createUploadWriters();

  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    checkUploadKey(key);
    draft.signal?.throwIfAborted();
    const { parent, name } = await openParent(path, "not-a-file");
    return withFolder(parent, async (folder) => {
      const previous = await inParent(checkTarget(folder, name, draft));
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
      await states.write(upload, true);
      try {
        const descriptor = await createFile(folder, toBytesName(key), previous);
        await access.flush(descriptor);
        await closeFile(descriptor, true);
        if (isFlushed) await folder.sync();
      } catch (error) {
        await tryUnlink(folder, toBytesName(key));
        await states.remove(key).catch(() => undefined);
        throw error;
      }
      return toState(upload, 0, upload.created);
    });
  }

  /** Runs a short call with the lock of an upload. @throws StorageError `not-found` if there is none. */
  function use<T>(key: UploadKey, work: (open: OpenUpload) => Promise<T>): Promise<T> {
    return writers.run(key, () => withUpload(key, work));
  }

  async function find(key: UploadKey): Promise<UploadState | undefined> {
    const found = use(key, async ({ upload, descriptor, stats }) => {
      // What a process wrote that has ended may not be on the disk yet.
      if (descriptor !== undefined) await access.flush(descriptor);
      return toStateOf(upload, stats);
    });
    return found.catch(undefinedIfMissing);
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
          ({ upload, descriptor, stats }, lock) => {
            const isAtOffset = stats !== undefined && Number(stats.size) === offset;
            if (descriptor === undefined || !isAtOffset) throw new StorageError("offset-mismatch");
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
    return use(key, async ({ upload, stats }) => {
      const changed: DiskUpload = {
        ...upload,
        ...(size !== undefined && { size }),
        ...(note !== undefined && { note }),
        ...(expires !== undefined && { expires: expires.getTime() }),
      };
      await states.write(changed);
      return toStateOf(changed, stats);
    });
  }

  function complete(key: UploadKey, options: CompleteOptions = {}): Promise<StorageEntry> {
    return use(key, async (open) => {
      options.signal?.throwIfAborted();
      const { upload, stats } = open;
      if (upload.isDone === true && upload.target !== undefined) return toFileEntry(upload.target);
      if (upload.size !== undefined && upload.size !== Number(stats?.size)) throw new StorageError("incomplete");
      const path = options.path ?? upload.path;
      checkUploadName(upload.path, path);
      if (!tree.isValidName(nameOf(path))) throw new StorageError("bad-name");
      return inParent(replaceTarget(open, path, options));
    });
  }

  /** Makes the bytes of an upload the file at a path of its folder. */
  async function replaceTarget(
    { upload, folder, descriptor }: OpenUpload,
    path: string,
    options: CompleteOptions,
  ): Promise<StorageEntry> {
    if (descriptor === undefined) throw new StorageError("not-found");
    const [name, temporary] = [nameOf(path), toBytesName(upload.key)];
    const previous = await checkTarget(folder, name, options);
    const written = await mapSystemErrors(finishFile(descriptor, previous, durability, undefined));
    const target = toTarget(path, name, written);
    // If the process ends after the rename, the next call sees by this that the upload is done.
    await states.write({ ...upload, target });
    const steps = { isRecent: false, isQuick: false, isFlushed };
    const placed = await commit(folder, { temporary, name, previous, written, ...steps }, options);
    if (placed === "linked") await tryUnlink(folder, temporary);
    if (isFlushed) await folder.sync();
    const found = toFileEntry(target);
    const entry = previous === undefined ? found : await withPropertiesMark(folder, written, found);
    await access.markDone({ ...upload, target: { ...target, entry: toStoredEntry(entry) } });
    return entry;
  }

  async function discard(key: UploadKey): Promise<boolean> {
    const removed = use(key, async ({ folder }) => {
      const isRemoved = await states.remove(key);
      await tryUnlink(folder, toBytesName(key));
      return isRemoved;
    });
    return (await removed.catch(undefinedIfMissing)) ?? false;
  }

  async function* list(owner?: string): AsyncGenerator<UploadState> {
    for await (const upload of states.list(owner)) {
      const state = await describe(upload);
      if (state !== undefined) yield state;
    }
  }

  /** Returns the state of an upload without its lock; `undefined` if its bytes are gone. */
  async function describe(upload: DiskUpload): Promise<UploadState | undefined> {
    if (upload.isDone === true) return toStateOf(upload, undefined);
    const folder = await openFolderOf(upload);
    const stats = folder && (await withFolder(folder, (opened) => opened.lookUp(toBytesName(upload.key), false)));
    if (stats !== undefined) return toStateOf(upload, stats);
    if (Math.abs(Date.now() - upload.created) < CREATION_MS) return undefined;
    // Its completion may run just now, or it is lost: who has the lock knows.
    return find(upload.key);
  }

  async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
    const upload = await states.read(key);
    const folder = upload && (await openFolderOf(upload));
    if (folder === undefined) throw new StorageError("not-found");
    const descriptor = await withFolder(folder, (opened) => opened.openFile(toBytesName(key), constants.O_RDONLY));
    try {
      const end = upload?.checkedTo ?? Number(fstatSync(descriptor, BIGINT).size);
      for (let position = 0; position < end; ) {
        const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - position));
        const count = await mapSystemErrors(readDescriptor(descriptor, buffer, buffer.byteLength, position));
        if (count === 0) throw new StorageError("unavailable", "The bytes of the upload have become fewer.");
        position += count;
        yield buffer.subarray(0, count);
      }
    } finally {
      await closeFile(descriptor, true);
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
      for (const key of keys) yield* read(key);
    }
    const storage: StorageAdapter = self();
    return storage.write(path, content(), { ...options, size });
  }

  return { create, find, append, update, complete, discard, list, read, join };
}

/** When a call fails with `not-found`, the missing member is the parent folder. */
function inParent<T>(step: Promise<T>): Promise<T> {
  return mapErrorCode(step, "not-found", "parent-missing");
}
