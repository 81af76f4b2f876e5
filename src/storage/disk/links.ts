import { realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/**
 * The same place without the links that lead to it, for `links: "inside"`: only a translation of the path, which is
 * then walked like any other, so that a link swapped in meanwhile is not followed. Unchanged, and so ending at the
 * link, where a link leads out of the root, to nothing, or back to a folder that the path went through already: who
 * walks a tree comes to an end.
 */
export async function followLinks(root: string, segments: readonly string[]): Promise<readonly string[]> {
  try {
    const realRoot = await realpath(root);
    const target = await realpath(join(root, ...segments));
    if (target === join(realRoot, ...segments)) return segments;
    const inside = relative(realRoot, target);
    const found = inside === "" ? [] : inside.split(sep);
    const isOutside = found[0] === ".." || join(realRoot, ...found) !== target;
    return isOutside || (await hasCycle(root, segments)) ? segments : found;
  } catch {
    // Missing, too long for one call, or not to be read: the walk says which.
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
