import { opendir } from "node:fs/promises";
import { removeLeftover } from "./disk-temporary.ts";
import type { FolderTree } from "./disk-walk.ts";

/**
 * Removes the leftovers of ended processes below a root: one folder after the other, beside the real work, and
 * without keeping the process alive. What it cannot read or remove stays.
 */
export async function sweepLeftovers(tree: FolderTree): Promise<void> {
  const waiting: string[][] = [[]];
  for (let segments = waiting.pop(); segments !== undefined; segments = waiting.pop()) {
    await new Promise((resolve) => setTimeout(resolve, 1).unref());
    for (const name of await sweepFolder(tree, segments).catch(() => [])) waiting.push([...segments, name]);
  }
}

/** Removes the leftovers in one folder; the names of the folders in it. */
async function sweepFolder(tree: FolderTree, segments: readonly string[]): Promise<string[]> {
  const folders: string[] = [];
  const folder = await tree.open(segments);
  try {
    for await (const member of await opendir(String(folder.at(".")))) {
      if (member.isDirectory()) folders.push(member.name);
      else await removeLeftover(folder, member.name);
    }
  } finally {
    folder.close();
  }
  return folders;
}
