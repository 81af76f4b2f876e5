import { isTemporaryName } from "./temporary-files.ts";

const MAX_NAME_BYTES = 255;
const INVALID_ON_WINDOWS = /[<>:"|?*\\]|[. ]$|^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Whether the disk stores a name unchanged, so that it can be listed and found again. A valid name is at most 255 bytes
 * of valid UTF-8 without NUL, and not the name of a temporary file. On Windows it contains nothing that the system
 * would cut off or redirect.
 */
export function isValidName(name: string): boolean {
  if (/[\0\p{Cs}]/u.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES || isTemporaryName(name)) return false;
  return process.platform !== "win32" || !INVALID_ON_WINDOWS.test(name);
}
