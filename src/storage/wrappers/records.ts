import { TRASH_FOLDER, TRASH_PURGES_FOLDER, VERSION_MOVES_FOLDER } from "../area.ts";

/** The file next to what was removed. */
export const TRASH_INFO = "info.json";
/** What was removed. */
export const TRASH_DATA = "data";
/** The folder next to what was removed, with its versions. */
export const TRASH_VERSIONS = "versions";
/** The folder of an entry is the first one with such a name. What is in it may have any name. */
const ENTRY = /~t\/\d{8}T\d{9}Z-[0-9a-f]{16}(?=\/|$)/;

/** Whether a file of the storage is a record of a wrapper, of which the owner of the files knows nothing. */
export function isRecord(folder: string, name: string): boolean {
  if (folder === VERSION_MOVES_FOLDER || folder === TRASH_PURGES_FOLDER) return true;
  return name === TRASH_INFO && isTrashEntryFolder(folder);
}

/** Returns the folder of the versions of something in the trash. `undefined` for any other path. */
export function toTrashedVersions(path: string): string | undefined {
  const end = path.length - TRASH_DATA.length - 1;
  const folder = path.slice(0, end);
  const isData = path.slice(end) === `/${TRASH_DATA}` && isTrashEntryFolder(folder);
  return isData ? `${folder}/${TRASH_VERSIONS}` : undefined;
}

function isTrashEntryFolder(folder: string): boolean {
  if (!folder.startsWith(`${TRASH_FOLDER}/`)) return false;
  const entry = ENTRY.exec(folder);
  return entry !== null && entry.index + entry[0].length === folder.length;
}
