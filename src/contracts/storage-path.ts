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
