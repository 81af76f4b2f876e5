import { sha256Hex } from "../../platform/sha256.ts";

/** The longest name in bytes, as most storages have it. */
const MAX_NAME_BYTES = 255;
/** No name that was cut is shorter: a character has four bytes at most. */
const MAX_EXACT_NAME_BYTES = MAX_NAME_BYTES - 4;
/** The name for a path that is too long, without its mark. */
const CUT = /^~[0-9a-f]{16}$/;
const MARK_LENGTH = 2;
/** The longest path in bytes that is kept as it is: the keys of S3 have 1,024 bytes. */
export const MAX_PATH_BYTES = 700;

/**
 * Returns a name with a mark of two characters at its end. What is too long is cut, and has 16 digits of its SHA-256.
 */
export function toMarkedName(name: string, mark: string): string {
  if (utf8Length(name) + mark.length <= MAX_NAME_BYTES) return `${name}${mark}`;
  const digest = toDigest(name);
  let cut = "";
  for (const character of name) {
    if (utf8Length(cut) + utf8Length(character) + digest.length + mark.length > MAX_NAME_BYTES) break;
    cut += character;
  }
  return `${cut}${digest}${mark}`;
}

/** Returns the name for a path that is too long to be kept. */
export function toMarkedDigest(path: string, mark: string): string {
  return `~${toDigest(path)}${mark}`;
}

/** Whether a name with a mark may be cut, or be that of a path. */
export function isCutName(name: string): boolean {
  return CUT.test(name.slice(0, -MARK_LENGTH)) || utf8Length(name) > MAX_EXACT_NAME_BYTES;
}

function toDigest(text: string): string {
  return sha256Hex(text).slice(0, 16);
}

/** The length of a text in UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
