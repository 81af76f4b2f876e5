import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { processIdentity } from "../../src/platform/process-identity-node.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { appendText, beginUpload, offsetOf } from "../../src/testing/uploads/setup.ts";

/** A process of this machine that has ended. */
const ENDED = processIdentity().replace(/-\d+-/, `-${spawnSync(process.execPath, ["--version"]).pid}-`);
const UNKNOWN = "0".repeat(32);

it("removes what an ended process left beside the states of uploads, when the storage is opened", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-upload-leftovers-"));
  const storage = createDiskStorage({ root });
  const { key } = await beginUpload(storage, "/file");
  const [owner = ""] = await readdir(join(root, ".fileferry-uploads.tmp"));
  const states = join(root, ".fileferry-uploads.tmp", owner);
  const state = join(states, `.fileferry-${ENDED}-${"a".repeat(24)}.tmp`);
  const locks = join(states, `${UNKNOWN}.lock`);
  const entry = join(locks, `${"1".padStart(12, "0")}-${ENDED}-${"b".repeat(12)}`);
  const fresh = join(states, `${"1".repeat(32)}.lock`);
  await mkdir(locks);
  await mkdir(fresh);
  await writeFile(join(states, "..", "other"), "");
  await writeFile(state, "{");
  await writeFile(entry, "");
  const old = new Date(Date.now() - 7_200_000);
  for (const path of [state, entry, locks]) await utimes(path, old, old);
  const again = createDiskStorage({ root });
  await expect.poll(() => readdir(states)).not.toContain(`.fileferry-${ENDED}-${"a".repeat(24)}.tmp`);
  await expect.poll(() => readdir(locks)).toEqual([]);
  // The folder has just changed, so it may be one of a creation: the next clean-up removes it.
  await utimes(locks, old, old);
  createDiskStorage({ root });
  await expect.poll(() => readdir(states)).not.toContain(`${UNKNOWN}.lock`);
  expect(await readdir(states)).toEqual(expect.arrayContaining([`${key.id}.json`, `${"1".repeat(32)}.lock`]));
  expect(await offsetOf(again, key)).toBe(0);
  await rm(root, { recursive: true, force: true });
});

it("leaves the uploads of a storage whose root is below, and still removes what ended writes left there", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-nested-uploads-"));
  const below = join(root, "shared");
  await mkdir(join(below, "deep"), { recursive: true });
  const inner = createDiskStorage({ root: below });
  const uploads = [await beginUpload(inner, "/file"), await beginUpload(inner, "/deep/file")];
  for (const { key } of uploads) await appendText(inner, key, 0, "abc");
  const left = join(below, "deep", `.fileferry-${ENDED}-${"a".repeat(24)}.tmp`);
  const lost = join(root, `.fileferry-upload-${"0".repeat(64)}-${UNKNOWN}.tmp`);
  for (const path of [left, lost]) await writeFile(path, "x");
  createDiskStorage({ root });
  await expect.poll(() => [left, lost].filter(existsSync)).toEqual([]);
  for (const { key } of uploads) expect(await offsetOf(inner, key)).toBe(3);
  await rm(root, { recursive: true, force: true });
});

it("leaves the uploads of a storage whose root is above, and removes bytes that no storage has a state of", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-nested-uploads-"));
  const below = join(root, "middle", "shared");
  await mkdir(join(below, "deep"), { recursive: true });
  const outer = createDiskStorage({ root });
  const uploads = [
    await beginUpload(outer, "/middle/shared/file"),
    await beginUpload(outer, "/middle/shared/deep/file"),
  ];
  for (const { key } of uploads) await appendText(outer, key, 0, "abc");
  const inner = createDiskStorage({ root: below });
  const own = await beginUpload(inner, "/deep/other");
  const lost = [below, join(below, "deep")].map((folder) =>
    join(folder, `.fileferry-upload-${"0".repeat(64)}-${UNKNOWN}.tmp`),
  );
  for (const path of lost) await writeFile(path, "x");
  createDiskStorage({ root: below });
  await expect.poll(() => lost.filter(existsSync)).toEqual([]);
  for (const { key } of uploads) expect(await offsetOf(outer, key)).toBe(3);
  for (const path of lost) await writeFile(path, "x");
  createDiskStorage({ root });
  await expect.poll(() => lost.filter(existsSync)).toEqual([]);
  expect(await offsetOf(inner, own.key)).toBe(0);
  await rm(root, { recursive: true, force: true });
});

it("removes bytes whose state cannot be read", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-lost-states-"));
  const storage = createDiskStorage({ root });
  const { key } = await beginUpload(storage, "/file");
  await appendText(storage, key, 0, "abc");
  const states = join(root, ".fileferry-uploads.tmp");
  const [owner = ""] = await readdir(states);
  // As a power failure may leave it.
  await writeFile(join(states, owner, `${key.id}.json`), "");
  createDiskStorage({ root });
  await expect.poll(() => readdir(root)).toEqual([".fileferry-uploads.tmp"]);
  await rm(root, { recursive: true, force: true });
});
