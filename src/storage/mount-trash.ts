import { StorageError } from "../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import type { RestoreOptions, Trash, TrashEntry, TrashMember } from "../contracts/trash.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { mergeSorted } from "../platform/merge-sorted.ts";
import { toMountedOptions } from "./inner-limit.ts";

/** The trash of each storage by the path at which it is mounted; `undefined` for a storage without one. */
export type MountedTrash = Readonly<Record<string, Trash | undefined>>;

const MAX_KNOWN = 10_000;

/** A storage of a tree, and its trash. */
interface Mount {
  readonly mountedAt: readonly string[];
  readonly trash: Trash | undefined;
}

/**
 * Combines the trash of several storages to that of the tree that `mountStorage` makes of them, with the paths of the
 * tree. Name all mount points, also those of storages without a trash. An entry is restored to its own storage only:
 * any other path is `denied`.
 *
 * @throws TypeError if a path is not canonical.
 */
export function mountTrash(mounts: MountedTrash): Trash {
  const sorted: readonly Mount[] = Object.entries(mounts)
    .map(([path, trash]) => ({ mountedAt: toPathSegments(path), trash }))
    .sort((one, other) => other.mountedAt.length - one.mountedAt.length);

  /** The mounts of entries that were listed: otherwise it takes a walk of each trash to find one. */
  const known = createBoundedMap<string, Mount>(MAX_KNOWN);

  function findMount(path: string): Mount | undefined {
    const segments = toPathSegments(path);
    return sorted.find(({ mountedAt }) => isPrefix(mountedAt, segments));
  }

  function toInner({ mountedAt }: Mount, path: string): string {
    return toCanonicalPath(toPathSegments(path).slice(mountedAt.length));
  }

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
      const { mountedAt, trash } = mount;
      if (trash === undefined) return [];
      if (mount === around) return [{ mount, trash, folder: toInner(mount, below) }];
      return isPrefix(segments, mountedAt) ? [{ mount, trash, folder: "/" }] : [];
    });
  }

  async function* listIn(mount: Mount, trash: Trash, folder: string): AsyncGenerator<TrashEntry> {
    for await (const entry of trash.list(folder)) {
      const outer = toOuter(mount, entry);
      if (outer !== undefined) yield outer;
    }
  }

  async function find(below: string, ids: readonly string[]): Promise<readonly TrashEntry[]> {
    const found: TrashEntry[] = [];
    for (const { mount, trash, folder } of foldersBelow(below)) {
      const entries = await trash.find(folder, ids);
      found.push(...entries.map((entry) => toOuter(mount, entry)).filter((entry) => entry !== undefined));
    }
    return found;
  }

  /** Finds the storage that has an entry. */
  async function locate(id: string): Promise<{ readonly mount: Mount; readonly trash: Trash } | undefined> {
    const recent = known.get(id);
    if (recent?.trash !== undefined) return { mount: recent, trash: recent.trash };
    for (const mount of sorted) {
      const { trash } = mount;
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
    const inner = to === undefined ? undefined : toInner(mount, to);
    const path = await trash.restore(id, inner, toMountedOptions(options, mount.mountedAt));
    return toCanonicalPath([...mount.mountedAt, ...toPathSegments(path)]);
  }

  async function purge(id: string): Promise<boolean> {
    return (await locate(id))?.trash.purge(id) ?? false;
  }

  async function sweep(): Promise<number> {
    let count = 0;
    for (const { trash } of sorted) count += (await trash?.sweep()) ?? 0;
    return count;
  }

  return {
    list: (below) =>
      mergeSorted(
        foldersBelow(below).map(({ mount, trash, folder }) => listIn(mount, trash, folder)),
        newestOf,
      ),
    find,
    members,
    restore,
    purge,
    sweep,
    watch(listener) {
      const ends = sorted.map((mount) =>
        mount.trash?.watch(({ entry, reason }) => {
          const outer = toOuter(mount, entry);
          if (outer !== undefined) listener({ entry: outer, reason });
        }),
      );
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
}

function newestOf(one: TrashEntry, other: TrashEntry): number {
  return one.id > other.id ? -1 : 1;
}

function isPrefix(prefix: readonly string[], segments: readonly string[]): boolean {
  return prefix.every((segment, index) => segment === segments[index]);
}
