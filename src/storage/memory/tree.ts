import { StorageError } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { NO_PROPERTIES } from "../properties.ts";

/** A file. It is never changed: another file takes its place. */
export interface File {
  readonly kind: "file";
  readonly chunks: readonly Uint8Array[];
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
  readonly properties: Properties;
  readonly createdAs: number;
}

/** A folder. */
export interface Folder {
  readonly kind: "folder";
  readonly members: Map<string, File | Folder>;
  modified: Date;
  properties: Properties;
  /** Number of the last change of what a listing of the folder shows. */
  changedAs: number;
  /** Number of its creation, or of its last move. */
  createdAs: number;
}

/** Where a member is, or can be created. */
export interface Location {
  readonly parent: Folder;
  /** The folder with the parent; the root for members of the root. */
  readonly above: Folder;
  readonly name: string;
}

/** The files and folders of a memory storage, with the numbers that make them distinguishable. */
export interface MemoryTree {
  find(segments: readonly string[]): File | Folder | undefined;
  /**
   * Returns where the member at a path is, or can be created.
   * @throws StorageError `bad-name`, `parent-missing`, `not-a-folder`
   */
  locate(segments: readonly string[]): Location;
  /** Puts a member at a location, in place of what is there. */
  put(location: Location, member: File | Folder): void;
  remove(location: Location): void;
  /** Notes a change of what the listing of a folder shows. With `modified`, the folder gets this time. */
  noteChange(location: Location, modified?: Date): void;
  createFolder(): Folder;
  /** Returns the number for a member that was not in its folder before. */
  nextCreation(): number;
  nextEtag(modified: Date): string;
  now(): Date;
}

const MAX_NAME_BYTES = 255;

/** Creates an empty tree. */
export function createMemoryTree(clock: () => number): MemoryTree {
  let versions = 0;
  /**
   * Number of members created so far. Members are kept in creation order, so a member created during a listing comes
   * after all existing ones.
   */
  let creations = 0;
  let changes = 0;
  const root = createFolder();

  function nextCreation(): number {
    creations += 1;
    return creations;
  }

  function createFolder(): Folder {
    const createdAs = nextCreation();
    return { kind: "folder", members: new Map(), modified: now(), properties: NO_PROPERTIES, changedAs: 0, createdAs };
  }

  function now(): Date {
    return new Date(clock());
  }

  function find(segments: readonly string[]): File | Folder | undefined {
    let found: File | Folder | undefined = root;
    for (const name of segments) found = found?.kind === "folder" ? found.members.get(name) : undefined;
    return found;
  }

  function locate(segments: readonly string[]): Location {
    const name = segments.at(-1) ?? "";
    if (!isValidName(name)) throw new StorageError("bad-name");
    let [parent, above] = [root, root];
    for (const segment of segments.slice(0, -1)) {
      const next = parent.members.get(segment);
      if (next === undefined) throw new StorageError("parent-missing");
      if (next.kind === "file") throw new StorageError("not-a-folder");
      [above, parent] = [parent, next];
    }
    return { parent, above, name };
  }

  function noteChange({ parent, above }: Location, modified?: Date): void {
    changes += 1;
    parent.changedAs = changes;
    if (modified === undefined) return;
    parent.modified = modified;
    above.changedAs = changes;
  }

  function put(location: Location, member: File | Folder): void {
    location.parent.members.set(location.name, member);
    noteChange(location, now());
  }

  function remove(location: Location): void {
    location.parent.members.delete(location.name);
    noteChange(location, now());
  }

  function nextEtag(modified: Date): string {
    versions += 1;
    return `"${modified.getTime().toString(16)}-${versions.toString(16)}"`;
  }

  return { find, locate, put, remove, noteChange, createFolder, nextCreation, nextEtag, now };
}

/** Accepts the names that a disk accepts, so that the service behaves the same on both. */
function isValidName(name: string): boolean {
  return !/[\0\p{Cs}]/u.test(name) && new TextEncoder().encode(name).byteLength <= MAX_NAME_BYTES;
}
