import type { TrashPurge } from "../../contracts/kept/trash.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { KeyedMutex } from "../../platform/keyed-mutex.ts";
import type { EntryPlace } from "./places.ts";

/** What the parts of a trash share. */
export interface TrashInternals {
  /** The storage with the area in which the trash is. */
  readonly storage: StorageAdapter;
  /** The time in milliseconds. */
  readonly clock: () => number;
  /** How long the trash keeps an entry, in milliseconds. */
  readonly keepMilliseconds: number;
  /** Lets one caller at a time end an entry in this process. */
  readonly withLock: KeyedMutex;
  /** Notes where an entry is: otherwise it takes a walk to find it. */
  readonly remember: (place: EntryPlace) => void;
  /** Reports an entry that was removed by itself. */
  readonly report: (purge: TrashPurge) => void;
}
