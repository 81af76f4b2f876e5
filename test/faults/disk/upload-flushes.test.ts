import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { appendText, beginUpload, offsetOf } from "../../../src/testing/uploads/setup.ts";

/** How often bytes of a file were flushed to the device. */
const flushed = vi.hoisted(() => ({ times: 0 }));
let root: string;

vi.mock("node:fs", async (load) => {
  const real = await load<typeof import("node:fs")>();
  function fdatasync(descriptor: number, done: (error: Error | null) => void): void {
    flushed.times += 1;
    real.fdatasync(descriptor, done);
  }
  return { ...real, fdatasync };
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "fileferry-flushes-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function takeFlushes(): number {
  const { times } = flushed;
  flushed.times = 0;
  return times;
}

it("flushes the bytes of an upload once, and those that another process has added before it tells the offset", async () => {
  const storage = createDiskStorage({ root, durability: "fsync" });
  const { key } = await beginUpload(storage, "/file");
  takeFlushes();
  await appendText(storage, key, 0, "first ", "part");
  expect(takeFlushes()).toBe(1);
  expect([await offsetOf(storage, key), takeFlushes()]).toEqual([10, 0]);
  const [bytes = ""] = readdirSync(root).filter((name) => name.startsWith(".fileferry-upload-"));
  appendFileSync(join(root, bytes), " and more");
  expect([await offsetOf(storage, key), takeFlushes()]).toEqual([19, 1]);
  expect([await offsetOf(storage, key), takeFlushes()]).toEqual([19, 0]);
});
