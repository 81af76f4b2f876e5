import otherTypes from "mime/types/other.js";
import standardTypes from "mime/types/standard.js";

/** The media types by extensions. The class of `mime` keeps a set of extensions for each type too: half a megabyte. */
let types: ReadonlyMap<string, string> | undefined;

/** Returns the media type that the name or path of a file means, as `mime` does; `undefined` if it means none. */
export function findMediaType(name: string): string | undefined {
  types ??= readTypes();
  const [, path, stem = "", extension = ""] = /^(.*[/\\])?(.*\.)?(.*)$/s.exec(name) ?? [];
  if (path !== undefined && stem.length < 2) return undefined;
  return types.get(extension.toLowerCase());
}

/** The media type of a file whose name means none. */
const UNKNOWN_TYPE = "application/octet-stream";

/** Returns the `Content-Type` of a file by its name or path: storages keep none. */
export function toContentType(name: string): string {
  return findMediaType(name) ?? UNKNOWN_TYPE;
}

/** Reads the tables of `mime`. An extension with an asterisk belongs to another type. */
function readTypes(): ReadonlyMap<string, string> {
  const tables = Object.entries<readonly string[]>({ ...standardTypes, ...otherTypes });
  const found = tables.flatMap(([type, extensions]) => extensions.map((extension) => [extension, type] as const));
  return new Map(found.filter(([extension]) => !extension.startsWith("*")));
}
