import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import { StorageError } from "../contracts/storage-adapter.ts";
import { nameOf } from "../contracts/storage-path.ts";
import { createOverlay } from "./dry-run/overlay.ts";
import { type DryRun, findDryRun } from "./wrappers/dry-runs.ts";

const NO_UPKEEP = { sweep: async () => 0, watch: () => () => undefined };

/**
 * Creates what one dry run has in place of the storages of a service. Wrappers and mounts are made again with their own
 * code, so that limits, the trash and versions are what they will be. Below them are overlays over the storages that
 * have the files. What is unknown is taken for such a storage.
 *
 * What a trash or versions of another kind have is neither restored nor removed, but looks as if each could be ended
 * once. Callers have found it before.
 */
export function createDryRun(): DryRun {
  const made = new Map<object, object>();
  const ended = new Set<string>();

  function find<T extends object>(original: T, makeUnknown: (original: T) => T): T {
    const own = made.get(original) ?? findDryRun(original)?.(dry) ?? makeUnknown(original);
    made.set(original, own);
    return own as T;
  }

  function end(id: string): true {
    if (ended.has(id)) throw new StorageError("not-found");
    ended.add(id);
    return true;
  }

  // Each may be an instance of a class, so a spread would not do.
  const toCheckedTrash = (trash: Trash): Trash => ({
    list: (below) => trash.list(below),
    find: (below, ids, paths) => trash.find(below, ids, paths),
    members: (id) => trash.members(id),
    restore: async (id, to = "/") => end(id) && to,
    purge: async (id) => end(id),
    ...NO_UPKEEP,
  });

  const toCheckedVersions = (versions: Versions): Versions => ({
    list: (path) => versions.list(path),
    find: async (path, id) => (ended.has(id) ? undefined : versions.find(path, id)),
    read: (path, id, range) => versions.read(path, id, range),
    restore: async (path) => ({ name: nameOf(path), kind: "file", size: 0, modified: new Date() }),
    purge: async (_, id) => end(id),
    ...NO_UPKEEP,
  });

  const dry: DryRun = {
    storage: (storage) => find(storage, createOverlay),
    trash: (trash) => find(trash, toCheckedTrash),
    versions: (versions) => find(versions, toCheckedVersions),
  };
  return dry;
}
