import { nameOf, toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { VERSIONS_FOLDER } from "../area.ts";
import { isCutName, MAX_PATH_BYTES, toMarkedDigest, toMarkedName, utf8Length } from "../wrappers/marked-names.ts";
import { toTrashedVersions } from "../wrappers/records.ts";

/** The end of the name of a folder that has the versions of a file. The names of the versions are their IDs. */
const MARK = "~v";

/**
 * Returns the folder of the versions of a file. A folder next to the file may have the name of this one: then it also
 * has the folders of the versions of the files in that folder, but no other files.
 */
export function toVersionsFolder(path: string): string {
  const trashed = toTrashedVersions(path);
  if (trashed !== undefined) return trashed;
  const segments = toPathSegments(path);
  const folders: string[] = [];
  let bytes = 0;
  for (const name of segments) {
    bytes += utf8Length(name) + 1;
    if (bytes > MAX_PATH_BYTES) return toPlace([...folders, toMarkedDigest(path, MARK)]);
    folders.push(name);
  }
  const name = toMarkedName(folders.pop() ?? "", MARK);
  return toPlace([...folders, name]);
}

/**
 * Returns the folder that has the versions of all files below a folder. `undefined` if the path is too long: then those
 * of its files are next to others.
 */
export function toVersionsTree(path: string): string | undefined {
  const isTooLong = utf8Length(path) > MAX_PATH_BYTES;
  return toTrashedVersions(path) ?? (isTooLong ? undefined : `${VERSIONS_FOLDER}${path}`);
}

/** Returns the path of the file whose versions are in a folder. `undefined` if the name of the folder is cut. */
export function toVersionedPath(folder: string): string | undefined {
  return isCutName(nameOf(folder)) ? undefined : folder.slice(VERSIONS_FOLDER.length, -MARK.length);
}

/** Whether the files in a folder of the area may be versions. */
export function mayHaveVersions(folder: string): boolean {
  return folder.endsWith(MARK);
}

function toPlace(names: readonly string[]): string {
  return toCanonicalPath([...toPathSegments(VERSIONS_FOLDER), ...names]);
}
