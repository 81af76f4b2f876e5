import { statfs } from "node:fs/promises";

/** Returns how many bytes the file system of a folder has room for; `undefined` if it does not say. */
export async function findFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(folder);
    // Some file systems, such as FUSE ones, do not count blocks.
    return blocks > 0 ? bavail * bsize : undefined;
  } catch {
    return undefined;
  }
}
