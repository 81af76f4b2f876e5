import { toPathSegments } from "../../contracts/storage-path.ts";

/** As long as those of disks, so that a service behaves alike on all storages. */
const MAX_NAME_BYTES = 255;
const MAX_KEY_BYTES = 1024;

const encoder = new TextEncoder();

/** Where a path is in a bucket, as tools for buckets have it: the file `/a/b` is the object `a/b`, the folder `/a` the object `a/`, or any below it. */
export interface ObjectLocation {
  /** The last name of the path, empty for the root. */
  readonly name: string;
  /** The key of a file there; the root has none. */
  readonly key: string;
  /** What the keys of its members begin with, and the key of its marker; the root's is the prefix. */
  readonly folder: string;
  /** The `folder` of the parent; `undefined` for the root, whose members' parent it may be as well. */
  readonly parent: string | undefined;
}

/**
 * The place of a path below a prefix, or `undefined` for one where nothing ever is: a name that no member has, or a key over 1,024 bytes.
 * That of a folder is a byte longer: {@link isKey} tells whether there may be one.
 * @throws TypeError for a path that is not canonical.
 */
export function toLocation(prefix: string, path: string): ObjectLocation | undefined {
  const names = toPathSegments(path);
  const name = names.at(-1);
  if (name === undefined) return { name: "", key: "", folder: prefix, parent: undefined };
  const key = prefix + names.join("/");
  if (!names.every(isName) || !isKey(key)) return undefined;
  return { name, key, folder: `${key}/`, parent: key.slice(0, key.length - name.length) };
}

/** The keys of the folders above one, from the root's member down; those of `a/b/c/` below `a/` are `a/b` and `a/b/c`. */
export function toAncestors(prefix: string, folder: string): string[] {
  const names = folder.slice(prefix.length, -1).split("/");
  return names.map((_, index) => prefix + names.slice(0, index + 1).join("/"));
}

/** Whether a text may be the name of a member: one that a disk keeps too. The empty one, `.` and `..` have no path. */
export function isName(name: string): boolean {
  const isText = name !== "" && name !== "." && name !== ".." && !/[\0/\p{Cs}]/u.test(name);
  return isText && byteLength(name) <= MAX_NAME_BYTES;
}

/** Whether a key is not too long. */
export function isKey(key: string): boolean {
  return byteLength(key) <= MAX_KEY_BYTES;
}

function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}
