import { toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { TRASH_FOLDER, VERSIONS_FOLDER } from "../area.ts";

const AREAS = [TRASH_FOLDER, VERSIONS_FOLDER];

/**
 * Returns the path at which something counts. What the trash and the versions keep counts at the path from which it
 * came; otherwise removing files would be a way to have any amount of space.
 */
export function toCountedPath(path: string): string {
  const area = AREAS.find((one) => isWithin(path, one));
  return area === undefined ? path : path.slice(area.length) || "/";
}

/** Returns the folders of the storage that have what counts in a folder. */
export function toCountedFolders(folder: string): readonly string[] {
  if (folder === "/") return ["/"];
  return [folder, ...AREAS.map((area) => `${area}${folder}`)];
}

/** Whether a path is a folder itself, or in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** Returns the path itself and all folders around it, the root first. */
export function toPathsAround(path: string): readonly string[] {
  const segments = toPathSegments(path);
  return ["/", ...segments.map((_, index) => toCanonicalPath(segments.slice(0, index + 1)))];
}

/** Returns the path of the folder that has a member. */
export function toParent(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
