import { mkdir, readdir, rmdir, unlink } from "node:fs/promises";
import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import { StorageError } from "../../../contracts/storage-error.ts";
import type { UploadKey } from "../../../contracts/storage-uploads.ts";
import { sha256Hex } from "../../../platform/sha256.ts";
import { UPLOADS_FOLDER } from "../../upload-checks.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, undefinedIfMissing } from "../errors.ts";
import type { FolderTree } from "../folder-tree.ts";
import { UPLOAD_BYTES_PREFIX } from "../names.ts";
import { type OpenFolder, withFolder } from "../open-folder.ts";
import { readTextFile, replaceTextFile } from "../text-files.ts";

/*
 * The states of uploads are below the root of the storage:
 *
 *     .fileferry-uploads.tmp/<hash of the owner>/<id>.json    what is known, except the bytes
 *     .fileferry-uploads.tmp/<hash of the owner>/<id>.lock/   who uses the upload (`lock.ts`)
 *
 * The bytes are in the folder of the file to be, as `.fileferry-upload-<hash of the owner>-<id>.tmp`. Their number is
 * the offset.
 */

/** What the state of an upload says. */
export interface DiskUpload {
  readonly key: UploadKey;
  readonly path: string;
  readonly size?: number;
  readonly note: string;
  /** Times in milliseconds since 1970. */
  readonly created: number;
  readonly expires: number;
  /** Bytes from here on do not count: their checksum is not verified yet. */
  readonly checkedTo?: number;
  /** The file that the upload becomes, or has become, at this path. */
  readonly target?: UploadTarget;
  readonly isDone?: true;
}

/** Identifies a file that an upload becomes. */
export interface UploadTarget {
  readonly path: string;
  /** Inode and time of modification in nanoseconds. */
  readonly inode: string;
  readonly time: string;
  readonly entry: Omit<StorageEntry, "modified"> & { readonly modified: number };
}

/** The states of the uploads of a disk storage. */
export interface UploadStates {
  read(key: UploadKey): Promise<DiskUpload | undefined>;
  write(upload: DiskUpload): Promise<void>;
  /** Returns whether there was a state. */
  remove(key: UploadKey): Promise<boolean>;
  list(owner?: string): AsyncIterable<DiskUpload>;
  /**
   * Opens the folder for the locks of an upload. For a new one, creates the folders of the owner.
   * @throws StorageError `not-found` if there is no state, and the upload is not new.
   */
  openLocks(key: UploadKey, options?: { readonly isNew: boolean }): Promise<OpenFolder>;
  /** Returns the state that the name of a file with bytes leads to. */
  readOf(bytesName: string): Promise<DiskUpload | undefined>;
}

const STATE = /^([0-9a-f]{32})\.json$/;
const BYTES = /^\.fileferry-upload-([0-9a-f]{64})-([0-9a-f]{32})\.tmp$/;
/** More than a note of 16 KiB and a path take as JSON. */
const MAX_STATE_BYTES = 1_048_576;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** The name of the file with the bytes of an upload. */
export function toBytesName({ owner, id }: UploadKey): string {
  return `${UPLOAD_BYTES_PREFIX}${sha256Hex(owner)}-${id}.tmp`;
}

/**
 * Returns the path of the state that the name of a file with bytes leads to, below the root of the storage. `undefined`
 * for any other name.
 */
export function toStatePath(bytesName: string): string | undefined {
  const [, hash, id] = BYTES.exec(bytesName) ?? [];
  return hash === undefined || id === undefined ? undefined : [UPLOADS_FOLDER, hash, toStateName(id)].join("/");
}

/** Creates the access to the states below a root. */
export function createUploadStates(tree: FolderTree, { mustFlush }: { readonly mustFlush: boolean }): UploadStates {
  /** Opens the folder with all states. */
  const openAll = (): Promise<OpenFolder> => tree.openOwn([UPLOADS_FOLDER]);

  const openOwner = (hash: string): Promise<OpenFolder> => tree.openOwn([UPLOADS_FOLDER, hash]);

  async function read(key: UploadKey): Promise<DiskUpload | undefined> {
    const found = await readFrom(sha256Hex(key.owner), key.id);
    return found?.key.owner === key.owner ? found : undefined;
  }

  async function readFrom(hash: string, id: string): Promise<DiskUpload | undefined> {
    const folder = await openOwner(hash).catch(undefinedIfMissing);
    if (folder === undefined) return undefined;
    return withFolder(folder, (opened) => readState(opened, id));
  }

  async function write(upload: DiskUpload): Promise<void> {
    await withFolder(openOwner(sha256Hex(upload.key.owner)), async (folder) => {
      const text = JSON.stringify(upload);
      await replaceTextFile(folder, toStateName(upload.key.id), text, { mustFlush, mode: PRIVATE_FILE });
      if (mustFlush) await folder.sync();
    });
  }

  /** Creates the folders of an owner, and makes their names survive a power failure. */
  async function createFolders(hash: string): Promise<void> {
    await withFolder(tree.open([]), async (root) => {
      if (await createPrivate(root, UPLOADS_FOLDER)) await syncIf(root);
    });
    await withFolder(openAll(), async (all) => {
      if (await createPrivate(all, hash)) await syncIf(all);
    });
  }

  async function syncIf(folder: OpenFolder): Promise<void> {
    if (mustFlush) await folder.sync();
  }

  async function remove(key: UploadKey): Promise<boolean> {
    const folder = await openOwner(sha256Hex(key.owner)).catch(undefinedIfMissing);
    if (folder === undefined) return false;
    return withFolder(folder, async (opened) => {
      const removal = unlink(opened.at(toStateName(key.id))).then(() => true as const);
      const isRemoved = (await mapSystemErrors(ignoreErrors(removal, "ENOENT"))) ?? false;
      if (isRemoved) await syncIf(opened);
      return isRemoved;
    });
  }

  async function* list(owner?: string): AsyncGenerator<DiskUpload> {
    for (const hash of owner === undefined ? await ownersOf() : [sha256Hex(owner)]) {
      const folder = await openOwner(hash).catch(undefinedIfMissing);
      if (folder !== undefined) yield* listFolder(folder);
    }
  }

  /** Yields the states in a folder, then closes it. */
  async function* listFolder(folder: OpenFolder): AsyncGenerator<DiskUpload> {
    try {
      for (const name of await mapSystemErrors(readdir(String(folder.at("."))))) {
        const [, id] = STATE.exec(name) ?? [];
        const upload = id === undefined ? undefined : await readState(folder, id);
        if (upload !== undefined) yield upload;
      }
    } finally {
      folder.close();
    }
  }

  async function ownersOf(): Promise<readonly string[]> {
    const all = await openAll().catch(undefinedIfMissing);
    if (all === undefined) return [];
    return withFolder(all, (folder) => mapSystemErrors(readdir(String(folder.at(".")))));
  }

  async function openLocks({ owner, id }: UploadKey, { isNew = false } = {}): Promise<OpenFolder> {
    const hash = sha256Hex(owner);
    if (isNew) await createFolders(hash);
    return withFolder(openOwner(hash), async (folder) => {
      if (!isNew && !(await hasState(folder, id))) throw new StorageError("not-found");
      const name = toLocksName(id);
      const opened = await folder.enter(name).catch(undefinedIfMissing);
      if (opened !== undefined) return opened;
      await createPrivate(folder, name);
      return folder.enter(name);
    });
  }

  async function readOf(bytesName: string): Promise<DiskUpload | undefined> {
    const [, hash, id] = BYTES.exec(bytesName) ?? [];
    return hash === undefined || id === undefined ? undefined : readFrom(hash, id);
  }

  return { read, write, remove, list, openLocks, readOf };
}

function toStateName(id: string): string {
  return `${id}.json`;
}

/** Reads the state of the upload whose folder of locks is open. */
export function readStateOf(locks: OpenFolder, { owner, id }: UploadKey): Promise<DiskUpload | undefined> {
  return withFolder(locks.leave(), async (folder) => {
    const found = await readState(folder, id);
    return found?.key.owner === owner ? found : undefined;
  });
}

/**
 * Removes the folder for the locks of an upload that has no state any more, if no other process waits there. Never
 * rejects: what stays, the next start of a process removes.
 */
export async function removeUnneededLocks(locks: OpenFolder, { id }: UploadKey): Promise<void> {
  const removal = withFolder(locks.leave(), async (folder) => {
    if (!(await hasState(folder, id))) await rmdir(folder.at(toLocksName(id)));
  });
  await removal.catch(() => undefined);
}

async function hasState(folder: OpenFolder, id: string): Promise<boolean> {
  return (await folder.lookUp(toStateName(id))) !== undefined;
}

function toLocksName(id: string): string {
  return `${id}.lock`;
}

async function createPrivate(folder: OpenFolder, name: string): Promise<boolean> {
  const made = mkdir(folder.at(name), PRIVATE_FOLDER).then(() => true as const);
  const isNew = await mapErrorCode(mapSystemErrors(ignoreErrors(made, "EEXIST")), "not-found", "unavailable");
  return isNew ?? false;
}

async function readState(folder: OpenFolder, id: string): Promise<DiskUpload | undefined> {
  const text = await readTextFile(folder, toStateName(id), MAX_STATE_BYTES);
  if (text === undefined) return undefined;
  try {
    // Only this storage writes here; a text that another program has cut is no state.
    const state = JSON.parse(text) as DiskUpload;
    return state.key.id === id ? state : undefined;
  } catch {
    return undefined;
  }
}
