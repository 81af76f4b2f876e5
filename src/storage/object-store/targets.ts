import { hasCode, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { hasConditions, meetsConditions } from "../conditions.ts";
import { isKey, type ObjectLocation, toAncestors } from "./keys.ts";

/** Looks at the objects of a store. */
export interface ObjectLookup<Found> {
  /** Returns what is known about an object, or `undefined` if there is none. */
  head(key: string, signal?: AbortSignal): Promise<Found | undefined>;
  /** Whether any key begins with this prefix. */
  isAnyBelow(prefix: string, signal?: AbortSignal): Promise<boolean>;
}

/** What {@link createTargets} needs of a store. */
export interface TargetStore extends ObjectLookup<{ readonly etag: string }> {
  /** The storage's root: empty, or with a `/` at its end. */
  readonly prefix: string;
  /** Whether a file can be replaced next to a folder of the same name. Other tools can create both. */
  readonly replacesNextToFolder: boolean;
  /**
   * Creates the marker of a folder.
   * @throws StorageError `precondition-failed` if another writer was faster.
   */
  putMarker(folder: string): Promise<void>;
}

/** Checks the locations at which something is created. */
export interface ObjectTargets {
  /**
   * Checks that a file may be stored at a location.
   * @throws StorageError `not-a-file`, `not-a-folder`, `parent-missing`, `precondition-failed`
   */
  checkTarget(location: ObjectLocation, conditions: WriteOptions, signal: AbortSignal | undefined): Promise<void>;
  /** Creates a folder where nothing exists. */
  createFolder(location: ObjectLocation): Promise<void>;
}

/** Creates the checks of one storage. */
export function createTargets(store: TargetStore): ObjectTargets {
  const { prefix } = store;

  async function checkTarget(
    { parent, folder, key }: ObjectLocation,
    conditions: WriteOptions,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (parent === undefined) throw new StorageError("not-a-file", "The root is a folder, not a file.");
    const [isFolder, hasParent, current] = await Promise.all([
      store.isAnyBelow(folder, signal),
      isFolderThere(parent, signal),
      hasConditions(conditions) ? store.head(key, signal) : undefined,
    ]);
    if (isFolder && !(store.replacesNextToFolder && (await store.head(key, signal)) !== undefined)) {
      throw new StorageError("not-a-file", key);
    }
    if (!hasParent) throw await toParentRefusal(parent);
    if (!meetsConditions(current?.etag, conditions)) throw new StorageError("precondition-failed", key);
  }

  async function createFolder({ parent, folder, key }: ObjectLocation): Promise<void> {
    if (parent === undefined) throw new StorageError("already-exists", "The root folder already exists.");
    const [file, isFolder, hasParent] = await Promise.all([
      store.head(key),
      store.isAnyBelow(folder),
      isFolderThere(parent),
    ]);
    if (file !== undefined || isFolder) throw new StorageError("already-exists", key);
    if (!isKey(folder)) throw new StorageError("bad-name", key);
    if (!hasParent) throw await toParentRefusal(parent);
    try {
      await store.putMarker(folder);
    } catch (error) {
      throw hasCode(error, "precondition-failed") ? new StorageError("already-exists", key) : error;
    }
  }

  /** The root always exists. */
  async function isFolderThere(folder: string, signal?: AbortSignal): Promise<boolean> {
    return folder === prefix || store.isAnyBelow(folder, signal);
  }

  /** Returns the error for a missing parent folder. */
  async function toParentRefusal(folder: string): Promise<StorageError> {
    const above = await Promise.all(toAncestors(prefix, folder).map((key) => store.head(key)));
    const isBelowFile = above.some((found) => found !== undefined);
    return new StorageError(isBelowFile ? "not-a-folder" : "parent-missing", folder);
  }

  return { checkTarget, createFolder };
}
