import type { StorageAdapter } from "../../contracts/storage-adapter.ts";

/**
 * What a case receives. All members except the storage are optional and say what the storage can do. A test runner
 * should report cases that need a missing member as skipped.
 */
export interface StorageCaseContext {
  /** An empty storage for this case only. */
  readonly storage: StorageAdapter;
  /** Its files have strong entity-tags. */
  readonly strongTags?: true;
  /** It checks the conditions of a write and replaces the content in one atomic step. */
  readonly atomicConditions?: true;
  /**
   * If several callers move one source, or move or copy to one new path, exactly one succeeds. A move of a file is one
   * step.
   */
  readonly exactMoves?: true;
  /** It keeps properties. */
  readonly properties?: true;
  /** Times of files can be set. */
  readonly times?: true;
  /** Creates a link that the storage does not follow. The parent of the path exists. */
  readonly makeLink?: (path: string, to: "file" | "folder") => Promise<LinkTarget>;
  /**
   * Writes `count` files of one byte into an existing folder, faster than the storage does. Their names are the numbers
   * from 0. If it is missing, cases use the storage.
   */
  readonly fill?: (folder: string, count: number) => Promise<void>;
}

/** The target of a link made by {@link StorageCaseContext.makeLink}. */
export interface LinkTarget {
  /**
   * Returns the text of the file, or of the folder's only member, `inside.txt`. Returns `undefined` if the target no
   * longer exists.
   */
  readText(): Promise<string | undefined>;
}

/**
 * One promise of the storage contract. It does not depend on a test runner: `run` rejects if the storage breaks the
 * promise.
 */
export interface StorageCase {
  /** A sentence that states the promise; unique in the list. */
  readonly name: string;
  /** If the context lacks this member, skip the case, for this reason. */
  readonly needs?: Exclude<keyof StorageCaseContext, "storage" | "fill">;
  /** Ends within seconds, or minutes if each call uses a network. Leaves members in the storage. */
  run(context: StorageCaseContext): Promise<void>;
}
