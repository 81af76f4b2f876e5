import { opendir } from "node:fs/promises";
import type { FolderTree } from "./folder-tree.ts";
import { removeLeftover } from "./temporary-files.ts";

/**
 * When a root is swept, in milliseconds after the last time: at once, soon again for a process that was just ending, and when
 * leftovers of other machines, or of a container's former life, have rested for their hour.
 */
const SWEEPS_AFTER = [0, 10_000, 3_900_000];

/**
 * Removes the leftovers of ended processes below a root: one folder after the other, beside the real work, without
 * keeping the process alive, and without crossing into other file systems. It comes again for what it had to keep. What it
 * cannot read or remove stays.
 */
export async function sweepLeftovers(tree: FolderTree): Promise<void> {
  for (const delay of SWEEPS_AFTER) {
    await pause(delay);
    if (!(await sweepOnce(tree))) return;
  }
}

/** Whether something was kept that may be a leftover. */
async function sweepOnce(tree: FolderTree): Promise<boolean> {
  const waiting: string[][] = [[]];
  let isKept = false;
  let device: string | undefined;
  for (let segments = waiting.pop(); segments !== undefined; segments = waiting.pop()) {
    await pause(1);
    const swept = await sweepFolder(tree, segments, device).catch(() => undefined);
    if (swept === undefined) continue;
    device = swept.device;
    isKept ||= swept.isKept;
    for (const name of swept.folders) waiting.push([...segments, name]);
  }
  return isKept;
}

/** Removes the leftovers in one folder, and names the folders in it; nothing on another device. */
async function sweepFolder(
  tree: FolderTree,
  segments: readonly string[],
  only: string | undefined,
): Promise<{ readonly device: string; readonly folders: readonly string[]; readonly isKept: boolean } | undefined> {
  const folders: string[] = [];
  let isKept = false;
  const folder = await tree.open(segments);
  try {
    const [device = ""] = folder.identity().split(":");
    if (only !== undefined && device !== only) return undefined;
    for await (const member of await opendir(String(folder.at(".")))) {
      if (await removeLeftover(folder, member.name)) isKept = true;
      else if (member.isDirectory()) folders.push(member.name);
    }
    return { device, folders, isKept };
  } finally {
    folder.close();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
