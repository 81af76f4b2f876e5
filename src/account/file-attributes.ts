import type { Operation } from "../contracts/account.ts";
import { type StorageEntry, StorageError } from "../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties } from "../contracts/storage-attributes.ts";
import { createError } from "../http/errors.ts";
import { isReserved, toStoragePath } from "./path.ts";
import type { TreeAccess } from "./removal-check.ts";

/** A file or folder, and how much of it the account may see. */
export interface InspectedEntry {
  readonly entry: StorageEntry;
  /**
   * Whether the account may see attributes and properties: it may read the file, or list the folder, or list the folder
   * around it. Otherwise it may only know the kind.
   */
  readonly isVisible: boolean;
}

/** Attributes and properties of files and folders. A part of `AccountFiles`. */
export interface FileAttributes {
  /**
   * Returns what is at a path; `undefined` for nothing or a symlink. Checks no permission: names are no secret.
   */
  inspect(segments: readonly string[]): Promise<InspectedEntry | undefined>;
  /** Returns whether the account may do an operation at a path, by its permissions alone. */
  may(segments: readonly string[], operation: Operation): Promise<boolean>;
  /** Returns the properties of a file or folder. Throws `denied` if the account may not see them. */
  properties(segments: readonly string[]): Promise<Properties>;
  /**
   * Changes attributes and properties, all or nothing. The account needs `set-attributes`. Rejects with `unsupported`
   * if the storage does not keep them; other errors are those of the storage.
   */
  setAttributes(segments: readonly string[], changes: AttributeChanges): Promise<StorageEntry>;
}

/** Creates the attributes of an account's files. */
export function createFileAttributes({ tree, allows, require }: TreeAccess): FileAttributes {
  async function inspect(segments: readonly string[]): Promise<InspectedEntry | undefined> {
    const entry = isReserved(segments) ? undefined : await tree.stat(toStoragePath(segments));
    if (entry === undefined || entry.kind === "link") return undefined;
    return { entry, isVisible: await isVisible(segments, entry) };
  }

  async function isVisible(segments: readonly string[], { kind }: StorageEntry): Promise<boolean> {
    if (await allows(segments, kind === "folder" ? "list" : "read")) return true;
    return segments.length > 0 && allows(segments.slice(0, -1), "list");
  }

  async function properties(segments: readonly string[]): Promise<Properties> {
    const found = await inspect(segments);
    if (found === undefined) throw new StorageError("not-found");
    if (!found.isVisible) throw createError("denied");
    return found.entry.hasProperties && tree.attributes
      ? tree.attributes.properties(toStoragePath(segments))
      : new Map<string, string>();
  }

  async function setAttributes(segments: readonly string[], changes: AttributeChanges): Promise<StorageEntry> {
    if (isReserved(segments)) throw createError("name-reserved");
    await require(segments, "set-attributes");
    if ((await inspect(segments)) === undefined) throw new StorageError("not-found");
    if (tree.attributes === undefined) throw new StorageError("unsupported");
    return tree.attributes.change(toStoragePath(segments), changes);
  }

  return { inspect, may: allows, properties, setAttributes };
}
