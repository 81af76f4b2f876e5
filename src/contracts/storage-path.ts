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
