import { statfs } from "node:fs/promises";
import { join } from "node:path";

/**
 * Returns how many bytes the file system of a path has room for; of the nearest folder around it, if nothing is there.
 * Returns `undefined` if the file system does not say.
 */
export async function findFreeBytes(root: string, segments: readonly string[]): Promise<number | undefined> {
  for (let depth = segments.length; depth >= 0; depth -= 1) {
    try {
      const { blocks, bavail, bsize } = await statfs(join(root, ...segments.slice(0, depth)));
      // Some file systems, such as FUSE ones, do not count blocks.
      return blocks > 0 ? bavail * bsize : undefined;
    } catch {
      // The folder around it is looked at.
    }
  }
  return undefined;
}
