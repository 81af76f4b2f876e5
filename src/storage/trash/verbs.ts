import { toStrongTag } from "../../contracts/entity-tags.ts";
import {
  hasCode,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import type { StorageUploads, UploadState } from "../../contracts/storage-uploads.ts";
import { checkParent, checkSeparatePaths, checkSource, isOfKind, meetsConditions } from "../conditions.ts";
import { tryCaseChange } from "../wrappers/case-change.ts";
import type { TrashInternals } from "./internals.ts";
import { moveToTrash } from "./move-to-trash.ts";
import { type EntryPlace, toPlace } from "./places.ts";
import { restoreEntry } from "./restore-purge.ts";
import { hasMissing, isInHome, withRoom } from "./space.ts";

/** What the verbs of a storage with a trash need. */
export interface TrashVerbs {
  readonly internals: TrashInternals;
  /** Whether entries make room for what is stored. */
  readonly makeRoom: boolean;
  /** Called after something has been moved to the trash. Returns whether it stays there. It never rejects. */
  readonly onAdded: (place: EntryPlace) => Promise<boolean>;
}

/** How often a verb starts again if another caller has put something at the path that it has looked at. */
const MAX_ATTEMPTS = 3;

/** Creates `remove` of a storage with a trash. */
export function createTrashRemove({ internals, onAdded }: TrashVerbs): StorageAdapter["remove"] {
  const { storage } = internals;

  async function removeFound(path: string, found: StorageEntry, options: RemoveOptions): Promise<string | undefined> {
    const kind = found.kind === "folder" ? "folder" : "file";
    if (!skipsTrash(found)) {
      const { id } = await moveToTrash(internals, path, found, options);
      return (await onAdded({ id, folder: toPlace(path) })) ? id : undefined;
    }
    // Something else that has come there meanwhile is not removed for good.
    const etag = toStrongTag(found.etag);
    const ifMatch = options.ifMatch ?? (etag === undefined ? undefined : [etag]);
    await storage.remove(path, { kind, ...(ifMatch && { ifMatch }) });
    return undefined;
  }

  async function findRemovable(path: string, options: RemoveOptions): Promise<StorageEntry> {
    const found = await storage.stat(path);
    if (found === undefined || !isOfKind(found.kind, options)) throw new StorageError("not-found");
    if (!meetsConditions(found.etag, options)) throw new StorageError("precondition-failed");
    return found;
  }

  return async (path, { permanent = false, onTrashed, ...conditions } = {}) => {
    if (permanent || path === "/") return storage.remove(path, conditions);
    for (let attempt = 1; ; attempt += 1) {
      const found = await findRemovable(path, conditions);
      try {
        const id = await removeFound(path, found, conditions);
        if (id !== undefined) onTrashed?.(id);
        return;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !mayBeOther(error, conditions)) throw error;
      }
    }
  };
}

/** Whether a refusal may be about the kind or the tag that was found, of which the caller knows nothing. */
function mayBeOther(error: unknown, { kind, ifMatch }: RemoveOptions): boolean {
  return (
    (kind === undefined && hasCode(error, "not-found")) ||
    (ifMatch === undefined && hasCode(error, "precondition-failed"))
  );
}

/** Creates `copy` or `move` of a storage with a trash. */
export function createTrashCopyOrMove(
  { internals, makeRoom, onAdded }: TrashVerbs,
  verb: "copy" | "move",
): StorageAdapter["copy"] {
  const { storage } = internals;

  function mayMakeRoom(to: string, { quota }: TransferOptions): boolean {
    return makeRoom && verb === "copy" && isInHome(to, quota);
  }

  /** `replaced`: the entry that comes back if the action fails. */
  async function copyOrMove(
    from: string,
    to: string,
    options: TransferOptions,
    replaced?: EntryPlace,
  ): Promise<Placement> {
    const { quota, signal } = options;
    const act = (): Promise<Placement> => storage[verb](from, to, options);
    if (!mayMakeRoom(to, options)) return act();
    const check = (): Promise<void> => checkCopy(storage, from, to, options);
    return withRoom(internals, { path: to, quota, signal, from, check, ...(replaced && { kept: replaced.id }) }, act);
  }

  /** The source is checked first: a copy or a move that is refused replaces nothing. */
  async function checkFrom(from: string, { kind, ifMatch }: TransferOptions): Promise<void> {
    const source = await storage.stat(from);
    const isMissing = source === undefined || (source.kind === "link" && verb === "copy");
    if (isMissing || !isOfKind(source.kind, kind ? { kind } : {})) throw new StorageError("not-found");
    if (!meetsConditions(source.etag, ifMatch ? { ifMatch } : {})) throw new StorageError("precondition-failed");
  }

  async function replaceFolder(from: string, to: string, found: StorageEntry, options: TransferOptions): Promise<void> {
    const { id } = await moveToTrash(internals, to, found, {});
    const place = { id, folder: toPlace(to) };
    try {
      await copyOrMove(from, to, { ...options, replace: false }, place);
    } catch (error) {
      const mustGo = mayMakeRoom(to, options) && (await hasMissing(internals, place, error).catch(() => false));
      const path = await restoreEntry(internals, place, to, {}).catch(() => undefined);
      if (!mustGo || path === undefined) throw error;
      // There is no room for the copy and the folder in the trash, so the copy replaces the folder for good.
      await copyOrMove(from, to, options);
      return;
    }
    await onAdded(place);
  }

  return async (from, to, options = {}) => {
    if (options.replace !== true) return copyOrMove(from, to, options);
    checkSeparatePaths(from, to);
    if (verb === "move" && (await tryCaseChange(storage, from, to, options))) return "created";
    for (let attempt = 1; ; attempt += 1) {
      options.signal?.throwIfAborted();
      const found = await storage.stat(to);
      if (found?.kind !== "folder") return copyOrMove(from, to, options);
      await checkFrom(from, options);
      try {
        await replaceFolder(from, to, found, options);
        return "replaced";
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !hasCode(error, "already-exists")) throw error;
      }
    }
  };
}

/** Rejects as a copy does for which there is room. */
async function checkCopy(storage: StorageAdapter, from: string, to: string, options: TransferOptions): Promise<void> {
  checkSeparatePaths(from, to);
  checkSource(await storage.stat(from), options);
  await checkParent(storage, to);
  if (options.replace === true) return;
  if ((await storage.stat(to)) !== undefined) throw new StorageError("already-exists");
}

/** Creates `write` of a storage with a trash whose entries make room. */
export function createTrashWrite(internals: TrashInternals): StorageAdapter["write"] {
  return async (path, content, options = {}) => {
    let isUntouched = true;
    const watched = {
      [Symbol.asyncIterator]() {
        isUntouched = false;
        return content[Symbol.asyncIterator]();
      },
    };
    const { quota, size } = options;
    const write = (): Promise<StorageEntry> => internals.storage.write(path, watched, options);
    return withRoom(internals, { path, quota, size }, write, () => isUntouched);
  };
}

/** Creates the verbs of the uploads of a storage with a trash whose entries make room. */
export function createTrashUploads(
  internals: TrashInternals,
  uploads: StorageUploads,
): Pick<StorageUploads, "create" | "update"> {
  return {
    async create(key, path, draft) {
      const { quota, size } = draft;
      return withRoom(internals, { path, quota, size }, () => uploads.create(key, path, draft));
    },
    async update(key, change) {
      const { quota, size } = change;
      const update = (): Promise<UploadState> => uploads.update(key, change);
      const upload = size === undefined ? undefined : await uploads.find(key);
      return upload === undefined ? update() : withRoom(internals, { path: upload.path, quota, size }, update);
    },
  };
}

/** Symlinks, and empty files that systems leave in each folder, are not kept. */
function skipsTrash({ kind, name, size }: StorageEntry): boolean {
  if (kind !== "file") return kind === "link";
  return size === 0 && (name.startsWith("._") || name === ".DS_Store");
}
