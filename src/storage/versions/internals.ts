import type { VersionsFailure } from "../../contracts/kept/versions.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { BoundedMap } from "../../platform/bounded-map.ts";
import type { PathMutex } from "../wrappers/path-mutex.ts";

/** What the parts of a storage with versions share. */
export interface VersionInternals {
  /** The storage with the area in which the versions are. */
  readonly storage: StorageAdapter;
  /** The time in milliseconds. */
  readonly clock: () => number;
  /** How many versions a file has at most. */
  readonly keep: number;
  readonly keepMilliseconds: number;
  /** Larger files have no versions, in bytes. */
  readonly maxFileBytes: number;
  /** Lets one caller at a time replace the file at a path. */
  readonly mutex: PathMutex;
  /** The IDs in the folders of some files, the oldest first, as far as this process knows. */
  readonly known: BoundedMap<string, readonly string[] | undefined>;
  /** Reports versions that should go and could not be removed. */
  readonly report: (failure: VersionsFailure) => void;
}
