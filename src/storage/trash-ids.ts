import { toHex } from "../platform/sha256.ts";
import { TRASH_FOLDER } from "./area.ts";

/** The file next to what was removed. */
export const TRASH_INFO = "info.json";
const ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-f]{16}$/;
/** The folder of an entry is the first one with such a name. What is in it may have any name. */
const ENTRY = /~t\/\d{8}T\d{9}Z-[0-9a-f]{16}(?=\/|$)/;

/** Returns a new ID: the time, which IDs are sorted by, and 64 random bits. `time`: milliseconds since 1970. */
export function createTrashId(time: number): string {
  const random = toHex(crypto.getRandomValues(new Uint8Array(8)));
  return `${new Date(time).toISOString().replace(/[-:.]/g, "")}-${random}`;
}

/** Whether a text has the form of an ID. Only such a text may become a part of a path. */
export function isTrashId(text: string): boolean {
  return !Number.isNaN(toRemovalTime(text));
}

/** Returns the time of an ID, in milliseconds since 1970; `NaN` for any other text. */
export function toRemovalTime(id: string): number {
  const [, year, month, day, hour, minute, second, millisecond] = ID.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
}

/** Whether a file of the storage is the information of an entry, of which its owner knows nothing. */
export function isTrashInfo(folder: string, name: string): boolean {
  if (name !== TRASH_INFO || !folder.startsWith(`${TRASH_FOLDER}/`)) return false;
  const entry = ENTRY.exec(folder);
  return entry !== null && entry.index + entry[0].length === folder.length;
}
