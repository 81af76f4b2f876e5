import type { SweepOptions } from "../contracts/kept/sweep-options.ts";
import { isPrefix, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { runSweeps } from "../platform/run-sweeps.ts";

/** A storage of a tree, and what it offers in addition to its methods. */
export interface MountedPart<Part> {
  readonly mountedAt: readonly string[];
  /** Absent: the storage offers nothing of the kind. */
  readonly part: Part | undefined;
}

/** The parts of the storages of a tree. */
export interface MountedParts<Part> {
  /** The deepest ones first. */
  readonly sorted: readonly MountedPart<Part>[];
  /** Returns the storage that has a path of the tree; `undefined` if there is none. */
  find(path: string): MountedPart<Part> | undefined;
}

/**
 * Sorts the parts of storages by the paths at which these are mounted.
 * @throws TypeError if a path is not canonical.
 */
export function toMountedParts<Part>(mounts: Readonly<Record<string, Part | undefined>>): MountedParts<Part> {
  const sorted = Object.entries(mounts)
    .map(([path, part]) => ({ mountedAt: toPathSegments(path), part }))
    .sort((one, other) => other.mountedAt.length - one.mountedAt.length);

  function find(path: string): MountedPart<Part> | undefined {
    const segments = toPathSegments(path);
    return sorted.find(({ mountedAt }) => isPrefix(mountedAt, segments));
  }

  return { sorted, find };
}

/** Returns what is mounted, with something else in the place of each. */
export function mapMounts<T>(mounts: Readonly<Record<string, T>>, map: (mounted: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(mounts).map(([path, mounted]) => [path, map(mounted)]));
}

/** Sweeps the parts one after the other, also after one that fails. Returns the sum, or rejects with a failure. */
export function sweepParts(
  parts: readonly MountedPart<{ sweep(options?: SweepOptions): Promise<number> }>[],
  options?: SweepOptions,
): Promise<number> {
  return runSweeps(
    parts.map(
      ({ part }) =>
        async () =>
          part?.sweep(options),
    ),
    options?.signal,
  );
}

/** Returns the path in a mounted storage for a path of the tree. */
export function toInnerPath({ mountedAt }: Pick<MountedPart<unknown>, "mountedAt">, path: string): string {
  return toCanonicalPath(toPathSegments(path).slice(mountedAt.length));
}
