import { statfsSync } from "node:fs";
import { UPLOADS_FOLDER } from "../upload-checks.ts";

/** Whether a file system stores a name unchanged, so that it can be listed and found again by this name alone. */
export type NameCheck = (name: string) => boolean;

/** Names of temporary files (`temporary-files.ts`): clients can neither see nor create such members. */
const RESERVED = /^\.fileferry-.*\.tmp$/is;
/** The folder for the properties of the members of a folder (`properties.ts`). */
export const RECORDS_FOLDER = ".fileferry-properties";
/** How the names of the bytes of uploads begin. */
export const UPLOAD_BYTES_PREFIX = ".fileferry-upload-";
const MAX_NAME_BYTES = 255;
/** Names with a character that Windows refuses or takes for a stream, that it would shorten, and names of devices. */
const INVALID_ON_WINDOWS = /[<>:"|?*\\]|[. ]$|^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/**
 * The forms of short names that lead to files with longer ones: those of FAT and NTFS, such as `LONGNA~1.TXT`, and
 * those of Samba, such as `LONGN7~X.TXT`.
 */
const SHORT_NAME = /^(?:(?=[^.]{1,8}(?:\.|$))[^.]+~\d+|[^.]{6}~[\da-z])(?:\.[^.]{0,3})?$/i;
/** Types of file systems on Linux (statfs(2)) that other systems, or a server, read by the rules of Windows. */
const WINDOWS_FILE_SYSTEMS = [
  0x4d44, // FAT
  0x2011bab0, // exFAT
  0x7366746e, // NTFS
  0x5346544e, // NTFS, by the older driver
  0xff534d42, // SMB, by its old name CIFS
  0xfe534d42, // SMB 2 and 3
];

/** Returns the check of names for all folders of a root. */
export function findNameCheck(root: string): NameCheck {
  return process.platform === "win32" || hasWindowsNames(root) ? isValidOnWindows : isValidName;
}

/** Whether a name is reserved for temporary files. */
export function isTemporaryName(name: string): boolean {
  return RESERVED.test(name);
}

/** Whether a name is reserved for what the storage keeps next to the members of a folder. */
export function isOwnName(name: string): boolean {
  return isTemporaryName(name) || name.toLowerCase() === RECORDS_FOLDER;
}

/**
 * Whether a name is a reserved one of resumable uploads: their processes do not matter, so other rules apply than for
 * writes.
 */
export function isUploadName(name: string): boolean {
  return isTemporaryName(name) && (name === UPLOADS_FOLDER || name.startsWith(UPLOAD_BYTES_PREFIX));
}

/** Whether a name is at most 255 bytes of valid UTF-8 without NUL, and not reserved. */
function isValidName(name: string): boolean {
  const isPossible = !/[\0\p{Cs}]/u.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;
  return isPossible && !isOwnName(name);
}

function isValidOnWindows(name: string): boolean {
  return isValidName(name) && !INVALID_ON_WINDOWS.test(name) && !SHORT_NAME.test(name);
}

function hasWindowsNames(root: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { type } = statfsSync(root, { bigint: true });
    // Some systems have the type as a signed number of 32 bits.
    return WINDOWS_FILE_SYSTEMS.includes(Number(BigInt.asUintN(32, type)));
  } catch {
    return false;
  }
}
