import type { RestoreOptions, Trash, TrashEntry, TrashMember } from "../contracts/kept/trash.ts";
import { StorageError } from "../contracts/storage-adapter.ts";
import { isPrefix, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { mergeSorted } from "../platform/merge-sorted.ts";
import { toMountedOptions } from "./inner-limit.ts";
import { type MountedPart, mapMounts, sweepParts, toInnerPath, toMountedParts } from "./mounted-parts.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";

/** The trash of each storage by the path at which it is mounted; `undefined` for a storage without one. */
export type MountedTrash = Readonly<Record<string, Trash | undefined>>;

const MAX_KNOWN = 10_000;

/** A storage of a tree, and its trash. */
type Mount = MountedPart<Trash>;

/**
 * Combines the trash of several storages to that of the tree that `mountStorage` makes of them, with the paths of the
 * tree. Name all mount points, also those of storages without a trash. An entry is restored to its own storage only:
 * any other path is `denied`.
 *
 * @throws TypeError if a path is not canonical.
 */
export function mountTrash(mounts: MountedTrash): Trash {
  const { sorted, find: findMount } = toMountedParts(mounts);

  /** The mounts of entries that were listed: otherwise it takes a walk of each trash to find one. */
  const known = createBoundedMap<string, Mount>(MAX_KNOWN);

  /** Returns an entry with its path in the tree; `undefined` if another storage hides it. */
  function toOuter(mount: Mount, entry: TrashEntry): TrashEntry | undefined {
    const path = toCanonicalPath([...mount.mountedAt, ...toPathSegments(entry.path)]);
    known.set(entry.id, mount);
    return findMount(path) === mount ? { ...entry, path } : undefined;
  }

  /** The folders of the storages that are below a folder of the tree. */
  function foldersBelow(below: string): readonly { readonly mount: Mount; readonly trash: Trash; folder: string }[] {
    const segments = toPathSegments(below);
    const around = findMount(below);
    return sorted.flatMap((mount) => {
      const { mountedAt, part: trash } = mount;
      if (trash === undefined) return [];
      if (mount === around) return [{ mount, trash, folder: toInnerPath(mount, below) }];
      return isPrefix(segments, mountedAt) ? [{ mount, trash, folder: "/" }] : [];
    });
  }

  async function* listIn(mount: Mount, trash: Trash, folder: string): AsyncGenerator<TrashEntry> {
    for await (const entry of trash.list(folder)) {
      const outer = toOuter(mount, entry);
      if (outer !== undefined) yield outer;
    }
  }

  /** The paths in a storage of those entries that were removed from it. */
  function toInnerPaths(mount: Mount, paths: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const own = [...paths].filter(([, path]) => findMount(path) === mount);
    return new Map(own.map(([id, path]) => [id, toInnerPath(mount, path)]));
  }

  async function find(
    below: string,
    ids: readonly string[],
    paths?: ReadonlyMap<string, string>,
  ): Promise<readonly TrashEntry[]> {
    const found: TrashEntry[] = [];
    for (const { mount, trash, folder } of foldersBelow(below)) {
      const entries = await trash.find(folder, ids, paths && toInnerPaths(mount, paths));
      found.push(...entries.map((entry) => toOuter(mount, entry)).filter((entry) => entry !== undefined));
    }
    return found;
  }

  /** Finds the storage that has an entry. */
  async function locate(id: string): Promise<{ readonly mount: Mount; readonly trash: Trash } | undefined> {
    const recent = known.get(id);
    if (recent?.part !== undefined) return { mount: recent, trash: recent.part };
    for (const mount of sorted) {
      const { part: trash } = mount;
      if (trash !== undefined && (await trash.find("/", [id])).length > 0) return { mount, trash };
    }
    return undefined;
  }

  async function* members(id: string): AsyncGenerator<TrashMember> {
    const located = await locate(id);
    if (located !== undefined) yield* located.trash.members(id);
  }

  async function restore(id: string, to?: string, options?: RestoreOptions): Promise<string> {
    const located = await locate(id);
    if (located === undefined) throw new StorageError("not-found");
    const { mount, trash } = located;
    if (to !== undefined && findMount(to) !== mount) {
      throw new StorageError("denied", "An entry is restored to its own storage only.");
    }
    const inner = to === undefined ? undefined : toInnerPath(mount, to);
    const path = await trash.restore(id, inner, toMountedOptions(options, mount.mountedAt));
    return toCanonicalPath([...mount.mountedAt, ...toPathSegments(path)]);
  }

  async function purge(id: string): Promise<boolean> {
    return (await locate(id))?.trash.purge(id) ?? false;
  }

  const trash: Trash = {
    list: (below) =>
      mergeSorted(
        foldersBelow(below).map(({ mount, trash, folder }) => listIn(mount, trash, folder)),
        newestOf,
      ),
    find,
    covers(folder) {
      const mount = findMount(folder);
      return mount?.part !== undefined && (mount.part.covers?.(toInnerPath(mount, folder)) ?? true);
    },
    members,
    restore,
    purge,
    sweep: (options) => sweepParts(sorted, options),
    watch(listener) {
      const ends = sorted.map((mount) =>
        mount.part?.watch(({ entry, reason }) => {
          const outer = toOuter(mount, entry);
          if (outer !== undefined) listener({ entry: outer, reason });
        }),
      );
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
  noteDryRun(trash, (dry) => mountTrash(mapMounts(mounts, (one) => one && dry.trash(one))));
  return trash;
}

function newestOf(one: TrashEntry, other: TrashEntry): number {
  return one.id > other.id ? -1 : 1;
}
