/**
 * The segments of a canonical storage path; none for the root. For authors of storage adapters.
 * @throws TypeError if the path is not canonical.
 */
export function toPathSegments(path: string): string[] {
  const segments = path === "/" ? [] : path.split("/").slice(1);
  const isCanonical = path.startsWith("/") && !segments.some((name) => name === "" || name === "." || name === "..");
  if (!isCanonical) throw new TypeError(`Not a canonical path: ${JSON.stringify(path)}`);
  return segments;
}

/** Returns the last name of a canonical path, or the empty string for the root. */
export function nameOf(path: string): string {
  return toPathSegments(path).at(-1) ?? "";
}

/** Returns the canonical path of segments: the reverse of {@link toPathSegments}. */
export function toCanonicalPath(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}

/** Returns the canonical path of the folder that has a member; `/` for the root. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Whether a path is another one or a folder around it, both as segments. */
export function isPrefix(shorter: readonly string[], longer: readonly string[]): boolean {
  return shorter.length <= longer.length && shorter.every((name, index) => name === longer[index]);
}

/** Whether a canonical path is a folder itself, or in it. */
export function isWithinFolder(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/**
 * Returns what paths have in common that a disk may take for one: some ignore case, or write a character in another
 * way. Paths that differ here are different on every disk.
 */
export function foldPath(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
