import { toPathSegments } from "../../contracts/storage-path.ts";
import { UPLOADS_FOLDER } from "../upload-checks.ts";

/** The limit of disks, so that the service behaves the same on all storages. */
const MAX_NAME_BYTES = 255;
const MAX_KEY_BYTES = 1024;
/** Name of the folders with the properties of the members next to them. No path leads there. */
export const PROPERTIES_FOLDER = ".fileferry-properties";

const encoder = new TextEncoder();

/**
 * The location of a path in a bucket. It follows the convention of other tools: the file `/a/b` is the object `a/b`.
 * The folder `/a` is the object `a/`, or any object below it.
 */
export interface ObjectLocation {
  /** Last name of the path, empty for the root. */
  readonly name: string;
  /** Key of a file at this path. The root has none. */
  readonly key: string;
  /** Prefix of the keys of its members, and key of its marker. For the root this is the storage's prefix. */
  readonly folder: string;
  /** The `folder` of the parent. `undefined` for the root. */
  readonly parent: string | undefined;
}

/**
 * Returns the location of a path below a prefix. Returns `undefined` if nothing can exist there: an invalid name, or a
 * key over 1,024 bytes.
 *
 * The key of a folder is one byte longer, so check it with {@link isKey}.
 * @throws TypeError if the path is not canonical.
 */
export function toLocation(prefix: string, path: string): ObjectLocation | undefined {
  const names = toPathSegments(path);
  const name = names.at(-1);
  if (name === undefined) return { name: "", key: "", folder: prefix, parent: undefined };
  const key = prefix + names.join("/");
  if (!names.every(isName) || !isKey(key)) return undefined;
  return { name, key, folder: `${key}/`, parent: key.slice(0, key.length - name.length) };
}

/**
 * Returns the key of the object with the properties of what is at a location. It may be too long for a key: check it
 * with {@link isKey}. The root has no folder around it, so its object has a name that no member of it can have.
 */
export function toPropertiesKey({ name, folder, parent }: ObjectLocation): string {
  return `${parent ?? folder}${PROPERTIES_FOLDER}/${parent === undefined ? PROPERTIES_FOLDER : name}`;
}

/**
 * Returns the keys of a folder and of all folders above it, without trailing `/`, topmost first. Those of `a/b/c/`
 * below `a/` are `a/b` and `a/b/c`.
 */
export function toAncestors(prefix: string, folder: string): string[] {
  const names = folder.slice(prefix.length, -1).split("/");
  return names.map((_, index) => prefix + names.slice(0, index + 1).join("/"));
}

/**
 * Whether a text is a valid name of a member, as on a disk. The empty name, `.` and `..` cannot occur in a path, and
 * two names are reserved.
 */
export function isName(name: string): boolean {
  if (name === PROPERTIES_FOLDER || name === UPLOADS_FOLDER) return false;
  const isText = name !== "" && name !== "." && name !== ".." && !/[\0/\p{Cs}]/u.test(name);
  return isText && byteLength(name) <= MAX_NAME_BYTES;
}

/** Whether a key is short enough. */
export function isKey(key: string): boolean {
  return byteLength(key) <= MAX_KEY_BYTES;
}

/** Whether a key is longer than another one. */
export function isLongerKey(key: string, other: string): boolean {
  return byteLength(key) > byteLength(other);
}

function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}
