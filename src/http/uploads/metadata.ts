import { fromCanonicalBase64 } from "../../platform/text-encoding.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { createError } from "../errors.ts";
import { isMemberName } from "../path-segment.ts";

/** Maximum size of `Upload-Metadata` in bytes (RESUMABLE 3.2). */
const MAX_BYTES = 8192;
/**
 * A key, and a value that may be left out. The protocol recommends ASCII for keys: other characters would not be the
 * same on every runtime.
 */
const PAIR = /^([!-+\--~]+)(?: (.*))?$/;
/** The keys of a file's name. The first one that is there counts. */
const NAME_KEYS = ["filename", "name"];

/** Pairs of `Upload-Metadata`: the bytes of each value by its key. */
export type UploadMetadata = ReadonlyMap<string, Uint8Array>;

/**
 * Parses `Upload-Metadata` (tus, Creation). A second field of this name is malformed, because it begins with a blank.
 * @throws HttpError `malformed` for more than 8 KiB, an empty or repeated key, and a value that is not canonical
 * Base64.
 */
export function parseUploadMetadata(value: string): UploadMetadata {
  if (value.length > MAX_BYTES) throw createError("upload-metadata-too-large", { values: { max: MAX_BYTES } });
  const pairs = new Map<string, Uint8Array>();
  for (const text of value.split(",")) {
    const [, key, encoded = ""] = PAIR.exec(text) ?? [];
    const bytes = fromCanonicalBase64(encoded);
    if (key === undefined || bytes === undefined || pairs.has(key)) throw createError("upload-metadata-invalid");
    pairs.set(key, bytes);
  }
  return pairs;
}

/**
 * The name of the file in metadata. A path in it is refused: nothing is stored in other folders than the URL names.
 * @throws HttpError `malformed` if there is none, or if it is not the name of a member in UTF-8.
 */
export function toUploadName(metadata: UploadMetadata | undefined): string {
  const key = NAME_KEYS.find((one) => metadata?.has(one));
  const bytes = key === undefined ? undefined : metadata?.get(key);
  if (bytes === undefined) throw createError("upload-name-missing");
  return requireMemberName(decodeUtf8(bytes));
}

/** @throws HttpError `malformed` unless a name may be that of a member of a folder. */
export function requireMemberName(name: string | undefined): string {
  if (name === undefined || !isMemberName(name)) throw createError("name-invalid");
  return name;
}
