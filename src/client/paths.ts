/** The names of an account's path. @throws TypeError if it is not one. */
export function toNames(path: string): readonly string[] {
  if (path === "/") return [];
  const [root, ...names] = path.split("/");
  if (root === "" && names.length > 0 && !names.some((name) => ["", ".", ".."].includes(name))) return names;
  throw new TypeError(`Not an absolute path without empty segments, "." and "..": ${path}`);
}

/** The path below the base URL of an account's file, with each name encoded. */
export function toFilePath(path: string): string {
  return `/home/${toNames(path).map(encodeURIComponent).join("/")}`;
}

/** The path below the base URL of the versions of a file, or of one of them. */
export function toVersionsPath(path: string, id?: string): string {
  const one = id === undefined ? "" : `/${encodeURIComponent(id)}`;
  return `/home/__svc__/versions${one}?path=${encodeURIComponent(`/${toNames(path).join("/")}`)}`;
}

/** The path below the base URL of an account's folder. */
export function toFolderPath(path: string): string {
  return path === "/" ? "/home/" : `${toFilePath(path)}/`;
}
