import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { mountSmallDisk, unmount } from "../../../support/small-disk.ts";

async function freeBytesIn(root: string, path = "/"): Promise<number | undefined> {
  const place = await createDiskStorage({ root }).locateContent?.(path);
  return place?.freeBytes?.();
}

describe("the room that a disk storage has", () => {
  it("is that of its file system, and goes with what is written (skipped where no small disk can be mounted)", async ({
    skip,
  }) => {
    const root = mountSmallDisk();
    if (root === undefined) return skip();
    // The storage looks for files of ended processes in the background.
    onTestFinished(() => unmount(root));
    const before = (await freeBytesIn(root)) ?? 0;
    expect(before).toBeGreaterThan(900_000);
    expect(before).toBeLessThanOrEqual(1024 ** 2);
    writeFileSync(join(root, "a"), new Uint8Array(409_600));
    expect(before - ((await freeBytesIn(root)) ?? 0)).toBe(409_600);
    // Also where that is a part of what the storage has, whether there is a file or not.
    const [around, name] = [dirname(root), basename(root)];
    for (const path of [`/${name}`, `/${name}/a`, `/${name}/of/none`])
      expect(await freeBytesIn(around, path)).toBe(await freeBytesIn(root));
  });

  it("is not known if the system does not say", async () => {
    const root = mkdtempSync(join(tmpdir(), "fileferry-free-"));
    const place = await createDiskStorage({ root }).locateContent?.("/");
    expect(await place?.freeBytes?.()).toBeGreaterThan(0);
    rmSync(root, { recursive: true });
    expect(await place?.freeBytes?.()).toBeUndefined();
  });
});
