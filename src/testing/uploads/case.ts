import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { UploadKey } from "../../contracts/storage-uploads.ts";

/** What a case of `uploadCases` receives. All members except the storage say what else can be tested. */
export interface UploadCaseContext {
  /** An empty storage with `uploads`, for this case only. */
  readonly storage: StorageAdapter;
  /** Opens the same storage once more, as another process does. */
  readonly open?: () => Promise<StorageAdapter>;
  /**
   * Starts an append of `bytes` at an offset in a process of its own, and kills that process when a part of them has
   * arrived. With `verify`, the append has a checksum.
   */
  readonly kill?: (key: UploadKey, offset: number, bytes: Uint8Array, options: { verify: boolean }) => Promise<void>;
  /** It checks the conditions of a write and replaces the content in one atomic step. */
  readonly atomicConditions?: true;
  /** It has `uploads.join`. */
  readonly join?: true;
  /** It has `uploads.read`. */
  readonly read?: true;
}

/** One promise of the contract of uploads. `run` rejects if the storage breaks it. */
export interface UploadCase {
  /** A sentence that states the promise; unique in the list. */
  readonly name: string;
  /** If the context lacks this member, skip the case, for this reason. */
  readonly needs?: Exclude<keyof UploadCaseContext, "storage">;
  /** Ends within seconds. Leaves members in the storage. */
  run(context: UploadCaseContext): Promise<void>;
}
