import { expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";

/** Names below the top folder. Each doubling is one copy. */
const DEPTH = 100 * 2 ** 7;

it("a copy in memory has any depth: a tree of 12,800 levels exhausted the stack", async () => {
  const storage = createMemoryStorage();
  const bottom = (depth: number): string => `/top${"/d".repeat(depth)}`;
  for (let depth = 0; depth <= 100; depth += 1) await storage.createFolder(bottom(depth));
  for (let depth = 100; depth < DEPTH; depth *= 2) {
    // The copy of the top folder becomes the next level, one name shorter than what is doubled.
    await storage.copy("/top", "/copy");
    await storage.remove(bottom(depth));
    await storage.move("/copy", bottom(depth));
  }
  expect(await storage.copy("/top", "/all")).toBe("created");
  expect((await storage.stat(`/all${"/d".repeat(DEPTH)}`))?.kind).toBe("folder");
});

it("a move in memory that is refused leaves a listing that is running complete", async () => {
  const storage = createMemoryStorage();
  const names = Array.from({ length: 3000 }, (_, number) => `${number}`);
  for (const name of names) await storage.createFolder(`/${name}`);
  const listed: string[] = [];
  for await (const { name } of storage.list("/")) {
    listed.push(name);
    if (listed.length > 1) continue;
    await expect(storage.move("/1500", "/0")).rejects.toMatchObject({ code: "already-exists" });
  }
  expect(listed.sort()).toEqual(names.sort());
});
