import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { toBatches } from "../../../../src/contracts/member-batches.ts";
import { createDiskStorage } from "../../../../src/storage/disk.ts";

it("begins the listing of a disk with no members, so that a check of the folder looks none up", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-list-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const names = Array.from({ length: 100 }, (_, index) => `${index}.txt`);
  await Promise.all(names.map((name) => writeFile(join(root, name), "")));
  const storage = createDiskStorage({ root });
  const batches: (readonly string[])[] = [];
  for await (const batch of toBatches(storage.list("/"))) batches.push(batch.map(({ name }) => name));
  expect(batches[0]).toEqual([]);
  expect(batches.flat().toSorted()).toEqual(names.toSorted());
  await expect(toBatches(storage.list("/none")).next()).rejects.toMatchObject({ code: "not-found" });
});
