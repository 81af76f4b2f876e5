import { createError } from "../../http/errors.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { toBase64 } from "../../platform/text-encoding.ts";

/** The version of the format. A cursor of another one is outdated. */
const VERSION = 1;
/** Enough for a name of 3,000 bytes. Storages have shorter ones. */
const MAX_CHARACTERS = 4096;

/**
 * Makes the cursor of the page after a name. `listing` describes the listing that it is for. The cursor has only a
 * digest of it: a cursor must not be longer than a URL may be.
 */
export function toCursor(after: string, listing: string): string {
  const text = toBase64(JSON.stringify([VERSION, toDigest(listing), after]));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Returns the name after which the page of a cursor begins. A cursor is not signed: a forged one begins at another name
 * of the same listing.
 * @throws HttpError `malformed` for a text that is no cursor, `conflict` for one of another listing or version.
 */
export function parseCursor(cursor: string, listing: string): string {
  const [version, digest, after] = readItems(cursor);
  if (typeof version !== "number" || typeof digest !== "string" || typeof after !== "string") {
    throw createError("cursor-invalid");
  }
  if (version !== VERSION || digest !== toDigest(listing)) throw createError("cursor-outdated");
  return after;
}

function readItems(cursor: string): readonly unknown[] {
  try {
    if (cursor.length > MAX_CHARACTERS) throw new RangeError("The cursor is too long.");
    const bytes = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const items: unknown = JSON.parse(text);
    return Array.isArray(items) ? items : [];
  } catch (cause) {
    throw createError("cursor-invalid", { cause });
  }
}

function toDigest(listing: string): string {
  return sha256Hex(listing).slice(0, 16);
}
