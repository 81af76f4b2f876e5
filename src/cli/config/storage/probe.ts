import { accessSync, constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { describeSystemError } from "../../failure.ts";

const { R_OK, W_OK, X_OK } = constants;

/**
 * Creates a function that rejects if the folder of a storage cannot be used: it no longer exists, it is full, or it was
 * writable and is not any more. The reason does not contain its path.
 */
export function createDiskProbe(root: string): () => Promise<void> {
  const mode = isWritable(root) ? R_OK | W_OK | X_OK : R_OK | X_OK;
  return async () => {
    try {
      await access(root, mode);
      const { blocks, bavail } = await statfs(root);
      // Some file systems, such as FUSE ones, do not count blocks.
      if ((mode & W_OK) !== 0 && blocks > 0 && bavail === 0) throw new Error("no space is left");
    } catch (error) {
      throw new Error(describeSystemError(error));
    }
  };
}

function isWritable(root: string): boolean {
  try {
    accessSync(root, W_OK);
    return true;
  } catch {
    return false;
  }
}
