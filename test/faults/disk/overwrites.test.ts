import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { put, readFileText } from "../../../src/testing/storage/content.ts";
import { amount } from "../../support/trust.ts";

const WRITERS = 4;
/** How often each reader asks. */
const QUESTIONS = amount({ short: 100, long: 5000 });

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-overwrites-"));
});
afterEach(() => rm(root, { recursive: true }));

function createStorage(platform: string): StorageAdapter {
  const actual = process.platform;
  Object.defineProperty(process, "platform", { value: platform });
  const storage = createDiskStorage({ root, durability: "rename" });
  Object.defineProperty(process, "platform", { value: actual });
  return storage;
}

/** What a reader learns of the file, as a text of one letter repeated. */
const READERS: Readonly<Record<string, (storage: StorageAdapter) => Promise<string>>> = {
  stat: async (storage) => "x".repeat((await storage.stat("/file"))?.size ?? 0),
  list: async (storage) => {
    for await (const { name, size } of storage.list("/")) if (name === "file") return "x".repeat(size);
    return "";
  },
  read: (storage) => readFileText(storage, "/file"),
};

describe.each([
  { name: "by descriptors", platform: process.platform },
  { name: "by paths, as on other systems", platform: "freebsd" },
])("a file that several writers overwrite all the time ($name)", ({ platform }) => {
  it.each(Object.entries(READERS))(
    "is there for whoever asks, in one of its versions, and every write succeeds (%s)",
    { timeout: 20_000 + 20 * QUESTIONS },
    async (_, ask) => {
      const storage = createStorage(platform);
      await put(storage, "/file", "a".repeat(10));
      let isOver = false;
      const keepWriting = async (_: unknown, number: number) => {
        while (!isOver) await put(storage, "/file", "abcd".charAt(number).repeat(10));
      };
      const keepAsking = async () => {
        for (let count = 0; count < QUESTIONS; count += 1) expect(await ask(storage)).toMatch(/^(.)\1{9}$/);
      };
      const writers = Array.from({ length: WRITERS }, keepWriting);
      const stop = () => {
        isOver = true;
      };
      await Promise.all([Promise.all([keepAsking(), keepAsking()]).finally(stop), ...writers]);
    },
  );
});
