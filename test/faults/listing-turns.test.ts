import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { startProcessorTime } from "../support/processor-time.ts";
import { createTestService } from "../support/service.ts";
import { fillStorage, overrideStorage } from "../support/storage.ts";

const MEMBERS = 10_000;
/** How long a turn of the event loop may take on average, in milliseconds. A batch of steps takes about 5. */
const MAX_TURN_MS = 25;
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Storages whose root has 10,000 members, and none of which ever has to wait for anything. */
const storages: Readonly<Record<string, () => Promise<StorageAdapter>>> = {
  memory: async () => {
    const storage = createMemoryStorage();
    for (let number = 0; number < MEMBERS; number += 1) await fillStorage(storage, { [`/member-${number}`]: "" });
    return storage;
  },
  disk: async () => {
    const root = mkdtempSync(join(tmpdir(), "fileferry-turns-"));
    folders.push(root);
    writeFileSync(join(root, "member-0"), "x");
    for (let number = 1; number < MEMBERS; number += 1)
      linkSync(join(root, "member-0"), join(root, `member-${number}`));
    return createDiskStorage({ root });
  },
  "an adapter that gives one by one": async () =>
    overrideStorage(createMemoryStorage(), {
      async *list() {
        for (let number = 0; number < MEMBERS; number += 1) {
          yield { name: `member-${number}`, kind: "file", size: number, modified: new Date(0) };
        }
      },
    }),
};

describe.each(Object.entries(storages))("listings of %s", (_name, create) => {
  it.each([1, 20])("let the event loop run again and again, %i at a time", async (count) => {
    const { call } = await createTestService({ storage: await create(), isDescribed: false });
    const listing = (): ReturnType<typeof call> => call("GET", "/home/", { as: "root", variant: "json" });
    // Code that runs for the first time is several times as slow.
    await listing();
    let turns = 0;
    let isDone = false;
    const tick = (): void => {
      turns += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    const startedAt = performance.now();
    const processorTime = startProcessorTime();
    const answers = await Promise.all(Array.from({ length: count }, listing));
    isDone = true;
    // A loaded machine may stop this process in the middle of a turn: that time is not the listing's.
    const spentMs = Math.min(performance.now() - startedAt, processorTime());
    expect(turns).toBeGreaterThanOrEqual(Math.floor(spentMs / MAX_TURN_MS));
    for (const answer of answers) {
      expect(answer.json<{ content: unknown[] }>().content.length).toBeGreaterThanOrEqual(MEMBERS);
    }
  });
});

describe("a folder of memory that is changed while it is listed", () => {
  it("gives each member once, and ends, whatever is removed and made again", async () => {
    const storage = createMemoryStorage();
    for (let number = 0; number < 3000; number += 1) await fillStorage(storage, { [`/${number}`]: "" });
    const names: string[] = [];
    for await (const { name } of storage.list("/")) {
      names.push(name);
      await storage.remove(`/${name}`);
      await fillStorage(storage, { [`/${name}`]: "again", [`/new-${names.length}`]: "" });
      await fillStorage(storage, { "/2999": `${names.length}` });
    }
    expect(names).toEqual(Array.from({ length: 3000 }, (_, number) => `${number}`));
  });
});

describe.runIf(existsSync("/proc/self/fd"))("a disk's folder", () => {
  it("is closed where its listing is left after any batch", async () => {
    const root = mkdtempSync(join(tmpdir(), "fileferry-turns-"));
    folders.push(root);
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "folder", "0"), "x");
    for (let number = 1; number < 1000; number += 1)
      linkSync(join(root, "folder", "0"), join(root, "folder", `${number}`));
    const storage = createDiskStorage({ root });
    const { open } = await createTestService({ storage });
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 50; round += 1) {
      const { body } = await open("GET", "/home/folder/", { as: "root", variant: "json" });
      if (round % 4 === 0) await body?.cancel();
      const reader = round % 4 === 0 ? undefined : body?.getReader();
      for (let step = 0; step < round % 4; step += 1) await reader?.read();
      await reader?.cancel();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
  });
});
