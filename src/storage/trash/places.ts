import { nameOf, toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { TRASH_FOLDER } from "../area.ts";
import { isCutName, MAX_PATH_BYTES, toMarkedDigest, toMarkedName, utf8Length } from "../wrappers/marked-names.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";

/** The end of the name of a folder that has entries. */
const MARK = "~t";
/** The end of the name of a folder that would otherwise look like an entry. */
const FOLDER_MARK = "~f";
/** A folder that would look like an entry. */
const CHANGED = /~f(?:\/|~t$)/;

/** The folder of one entry. */
export interface EntryPlace {
  readonly id: string;
  /** The folder that has the entry. Its name ends with `~t`. */
  readonly folder: string;
}

/** Returns the folder that has the entries of a path. */
export function toPlace(path: string): string {
  const { folders, isCut } = toFolders(path);
  const name = isCut ? toMarkedDigest(path, MARK) : toMarkedName(folders.pop() ?? "", MARK);
  return toCanonicalPath([...toPathSegments(TRASH_FOLDER), ...folders, name]);
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
  return isCutName(nameOf(place)) || CHANGED.test(place);
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
    bytes += utf8Length(name) + 1;
    if (bytes > MAX_PATH_BYTES) return { folders, isCut: true };
    folders.push(segments[index - 1]?.endsWith(MARK) && isTimedId(name) ? `${name}${FOLDER_MARK}` : name);
  }
  return { folders, isCut: false };
}
