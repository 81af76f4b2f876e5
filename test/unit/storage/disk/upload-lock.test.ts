import { existsSync, mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processIdentity } from "../../../../src/platform/process-identity-node.ts";
import { createFolderTree } from "../../../../src/storage/disk/folder-tree.ts";
import type { OpenFolder } from "../../../../src/storage/disk/open-folder.ts";
import { lockUpload } from "../../../../src/storage/disk/uploads/lock.ts";

let root: string;
let entries: OpenFolder;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "fileferry-lock-"));
  entries = await createFolderTree(root).open([]);
});
afterEach(() => {
  entries.close();
  rmSync(root, { recursive: true });
});

/** Creates the entry of another call, whose process is running. */
function createEntry(number: number, random: string): string {
  const path = join(root, `${String(number).padStart(12, "0")}-${processIdentity()}-${random}`);
  writeFileSync(path, "");
  return path;
}

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(1);
}

describe("the lock of an upload", () => {
  it("is had by one of many at a time, and by each of them in the end", async () => {
    let holders = 0;
    let most = 0;
    let times = 0;
    async function useOften(): Promise<void> {
      for (let time = 0; time < 3; time += 1) {
        const lock = await lockUpload(entries);
        holders += 1;
        most = Math.max(most, holders);
        times += 1;
        await setTimeout(1);
        holders -= 1;
        await lock.release();
      }
    }
    await Promise.all(Array.from({ length: 6 }, useOften));
    expect([most, times]).toEqual([1, 18]);
    expect(readdirSync(root)).toEqual([]);
  });

  it.each([
    [1, "0".repeat(12)],
    [1, "f".repeat(12)],
    [7, "f".repeat(12)],
  ])("waits for the one that has it, with the number %i and %s", async (number, random) => {
    const held = createEntry(number, random);
    let hasLock = false;
    const locking = lockUpload(entries).then((lock) => {
      hasLock = true;
      return lock;
    });
    // It waits above the other one, so that a running append sees it.
    await waitFor(() => readdirSync(root).some((name) => join(root, name) > held));
    await setTimeout(50);
    expect([hasLock, existsSync(held)]).toEqual([false, true]);
    unlinkSync(held);
    await (await locking).release();
    expect(readdirSync(root)).toEqual([]);
  });

  it("is had only after a new entry if another process has removed the one that waited", async () => {
    const held = createEntry(3, "0".repeat(12));
    const findOwn = (): string | undefined => readdirSync(root).find((name) => join(root, name) > held);
    const locking = lockUpload(entries);
    await waitFor(() => findOwn() !== undefined);
    const own = findOwn() ?? "";
    unlinkSync(join(root, own));
    await waitFor(() => ![undefined, own].includes(findOwn()));
    unlinkSync(held);
    const lock = await locking;
    expect(readdirSync(root)).toHaveLength(1);
    await lock.release();
  });
});
