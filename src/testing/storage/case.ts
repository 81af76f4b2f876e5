import type { StorageAdapter } from "../../contracts/storage-adapter.ts";

/**
 * What a case is given. Beyond the storage everything is optional and tells what the storage can do; cases that
 * need what is left out are to be reported as skipped.
 */
export interface StorageCaseContext {
  /** An empty storage of this case's own. */
  readonly storage: StorageAdapter;
  /** Its files have strong entity-tags. */
  readonly strongTags?: true;
  /** It checks the conditions of a write and exchanges the content as one step. */
  readonly atomicConditions?: true;
  /** Puts a link that the storage does not follow at a path whose parent is there. */
  readonly makeLink?: (path: string, to: "file" | "folder") => Promise<LinkTarget>;
  /**
   * Puts `count` files of one byte into a folder that is there, named as the numbers from 0, by a shorter way than
   * the storage's own. Cases do it through the storage where this is left out.
   */
  readonly fill?: (folder: string, count: number) => Promise<void>;
}

/** What a link made by {@link StorageCaseContext.makeLink} leads to. */
export interface LinkTarget {
  /** The text of the file, or of the folder's only member, `inside.txt`; `undefined` once it is gone. */
  readText(): Promise<string | undefined>;
}

/** One sentence of the storage contract, with its proof. It knows no test runner: it fails by throwing. */
export interface StorageCase {
  /** The sentence; unique in the list. */
  readonly name: string;
  /** Without this member of the context the case is to be skipped, and this is the reason. */
  readonly needs?: "strongTags" | "atomicConditions" | "makeLink";
  /** Ends within seconds, or minutes where each call crosses a network; leaves its members behind. */
  run(context: StorageCaseContext): Promise<void>;
}
