import { isWithinFolder } from "../../contracts/storage-path.ts";
import { isInArea, TRASH_FOLDER, VERSIONS_FOLDER } from "../area.ts";

const AREAS = [TRASH_FOLDER, VERSIONS_FOLDER];

/**
 * Returns the path at which something counts. What the trash and the versions keep counts at the path from which it
 * came; otherwise removing files would be a way to have any amount of space.
 */
export function toCountedPath(path: string): string {
  if (!isInArea(path)) return path;
  const area = AREAS.find((one) => isWithinFolder(path, one));
  return area === undefined ? path : path.slice(area.length) || "/";
}

/** Whether what is at a path of the storage counts in a folder. */
export function countsIn(path: string, folder: string): boolean {
  return isWithinFolder(toCountedPath(path), folder);
}

/** Returns the folders of the storage that have what counts in a folder. */
export function toCountedFolders(folder: string): readonly string[] {
  if (folder === "/") return ["/"];
  return [folder, ...AREAS.map((area) => `${area}${folder}`)];
}

/** Returns the path itself and all folders around it, the root last. */
export function toPathsAround(path: string): readonly string[] {
  const around: string[] = [];
  for (let end = path.length; end > 1; end = path.lastIndexOf("/", end - 1)) around.push(path.slice(0, end));
  around.push("/");
  return around;
}
