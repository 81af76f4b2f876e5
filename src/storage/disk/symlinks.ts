import { realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/**
 * Resolves the symlinks in a path, for `links: "inside"`. This only translates the path. The result is then walked like
 * any other path, so a symlink that is swapped in meanwhile is not followed.
 *
 * Returns the path unchanged, so that it still ends at the symlink, if a symlink leads out of the root, to nothing, or
 * back to a folder that the path already went through. Therefore every walk of a tree ends.
 */
export async function followSymlinks(root: string, segments: readonly string[]): Promise<readonly string[]> {
  try {
    const realRoot = await realpath(root);
    const target = await realpath(join(root, ...segments));
    if (target === join(realRoot, ...segments)) return segments;
    const inside = relative(realRoot, target);
    const found = inside === "" ? [] : inside.split(sep);
    const isOutside = found[0] === ".." || join(realRoot, ...found) !== target;
    return isOutside || (await hasCycle(root, segments)) ? segments : found;
  } catch {
    // The path is missing, too long for one call, or not readable. The later walk finds out which.
    return segments;
  }
}

async function hasCycle(root: string, segments: readonly string[]): Promise<boolean> {
  const seen = new Set<string>();
  for (let depth = 0; depth <= segments.length; depth += 1) {
    seen.add(await realpath(join(root, ...segments.slice(0, depth))));
  }
  return seen.size <= segments.length;
}
