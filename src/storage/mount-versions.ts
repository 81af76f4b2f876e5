import type { Versions } from "../contracts/kept/versions.ts";
import { StorageError } from "../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { toMountedOptions } from "./inner-limit.ts";
import { mapMounts, sweepParts, toInnerPath, toMountedParts } from "./mounted-parts.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";

/** The versions of each storage by the path at which it is mounted; `undefined` for a storage without any. */
export type MountedVersions = Readonly<Record<string, Versions | undefined>>;

/**
 * Combines the versions of several storages to those of the tree that `mountStorage` makes of them, with the paths of
 * the tree. Name all mount points, also those of storages without versions.
 *
 * @throws TypeError if a path is not canonical.
 */
export function mountVersions(mounts: MountedVersions): Versions {
  const { sorted, find } = toMountedParts(mounts);

  /** Returns the versions that a path belongs to, and the path there; `undefined` if it has none. */
  function locate(path: string) {
    const mount = find(path);
    if (mount?.part === undefined) return undefined;
    return { versions: mount.part, inner: toInnerPath(mount, path), mountedAt: mount.mountedAt };
  }

  const versions: Versions = {
    async *list(path) {
      const located = locate(path);
      if (located !== undefined) yield* located.versions.list(located.inner);
    },
    async find(path, id) {
      const located = locate(path);
      return located?.versions.find(located.inner, id);
    },
    async read(path, id, range) {
      const located = locate(path);
      if (located === undefined) throw new StorageError("not-found");
      return located.versions.read(located.inner, id, range);
    },
    async restore(path, id, options) {
      const located = locate(path);
      if (located === undefined) throw new StorageError("not-found");
      const { versions, inner, mountedAt } = located;
      return versions.restore(inner, id, toMountedOptions(options, mountedAt));
    },
    async purge(path, id) {
      const located = locate(path);
      return located === undefined ? false : located.versions.purge(located.inner, id);
    },
    sweep: (options) => sweepParts(sorted, options),
    watch(listener) {
      const ends = sorted.map(({ mountedAt, part }) =>
        part?.watch(({ path, error }) => {
          listener({ path: toCanonicalPath([...mountedAt, ...toPathSegments(path)]), error });
        }),
      );
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
  noteDryRun(versions, (dry) => mountVersions(mapMounts(mounts, (one) => one && dry.versions(one))));
  return versions;
}
