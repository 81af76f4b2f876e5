import { nameOf, toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { TRASH_FOLDER } from "../area.ts";
import { isTrashId } from "../trash-ids.ts";

/** The end of the name of a folder that has entries. */
const MARK = "~t";
/** The end of the name of a folder that would otherwise look like an entry. */
const FOLDER_MARK = "~f";
/** The longest name in bytes, as most storages have it. */
const MAX_NAME_BYTES = 255;
/** No name that was cut is shorter: a character has four bytes at most. */
const MAX_EXACT_NAME_BYTES = MAX_NAME_BYTES - 4;
/** The name for a path that is too long. */
const CUT = /^~[0-9a-f]{16}~t$/;
/** A folder that would look like an entry. */
const CHANGED = /~f(?:\/|~t$)/;
/** The longest path in bytes that is kept as it is: the keys of S3 have 1,024 bytes. */
const MAX_PATH_BYTES = 700;

/** The folder of one entry. */
export interface EntryPlace {
  readonly id: string;
  /** The folder that has the entry. Its name ends with `~t`. */
  readonly place: string;
}

/** Returns the folder that has the entries of a path. */
export function toPlace(path: string): string {
  const { folders, isCut } = toFolders(path);
  const name = isCut ? `~${toDigest(path)}` : (folders.pop() ?? "");
  return `${toCanonicalPath([...toPathSegments(TRASH_FOLDER), ...folders])}/${toMarkedName(name)}`;
}

/** Returns the folder that has everything from below a folder, and maybe also something else. */
export function toTrashFolder(path: string): string {
  return toCanonicalPath([...toPathSegments(TRASH_FOLDER), ...toFolders(path).folders]);
}

/** Whether the members of a folder of the trash with the form of an ID are entries. */
export function isPlace(folder: string): boolean {
  return folder.endsWith(MARK);
}

/** Returns the path that a place has if its names are not cut or changed. */
export function toPathOf(place: string): string {
  return place.slice(TRASH_FOLDER.length, -MARK.length);
}

/** Whether the names of a place may be cut or changed, so that only the information of an entry has its path. */
export function isInexact(place: string): boolean {
  const name = nameOf(place);
  return CUT.test(name) || byteLength(name) > MAX_EXACT_NAME_BYTES || CHANGED.test(place);
}

/**
 * Returns the names of a path as folders of the trash, as far as the path is not too long. No name looks like an entry:
 * otherwise the content of an entry could become a part of another one.
 */
function toFolders(path: string): { readonly folders: string[]; readonly isCut: boolean } {
  const segments = toPathSegments(path);
  const folders: string[] = [];
  let bytes = 0;
  for (const [index, name] of segments.entries()) {
    bytes += byteLength(name) + 1;
    if (bytes > MAX_PATH_BYTES) return { folders, isCut: true };
    folders.push(segments[index - 1]?.endsWith(MARK) && isTrashId(name) ? `${name}${FOLDER_MARK}` : name);
  }
  return { folders, isCut: false };
}

function toMarkedName(name: string): string {
  if (byteLength(name) + MARK.length <= MAX_NAME_BYTES) return `${name}${MARK}`;
  const digest = toDigest(name);
  let cut = "";
  for (const character of name) {
    if (byteLength(cut) + byteLength(character) + digest.length + MARK.length > MAX_NAME_BYTES) break;
    cut += character;
  }
  return `${cut}${digest}${MARK}`;
}

function toDigest(text: string): string {
  return sha256Hex(text).slice(0, 16);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
