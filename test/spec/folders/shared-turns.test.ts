import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const ARCHIVES = 40;
const BATCHES = 10;

/** A service whose folders have endless members for alice and 10 batches for bob, and the batches that are read. */
async function createListed(): Promise<{ readonly test: TestService; readonly read: string[] }> {
  const read: string[] = [];
  const base = createMemoryStorage();
  await base.createFolder("/alice");
  await base.createFolder("/bob");
  const storage = overrideStorage(base, {
    async *list(path) {
      const [, account = "", folder] = path.split("/");
      const batches = account === "bob" || folder === "few" ? BATCHES : 2000;
      for (let index = 0; index < 256 * batches; index++) {
        if (index % 256 === 0) read.push(folder ?? account);
        yield { name: `${index}.txt`, kind: "file", size: 0, modified: new Date(0) };
      }
    },
  });
  return { test: await createTestService({ storage, isWatched: false, limits: { pageBytesPerAccount: 0 } }), read };
}

/** Starts archives of alice, and returns when they read their folders, with the function that ends them. */
async function startArchives({ open }: TestService, read: readonly string[]): Promise<() => Promise<void>> {
  const clients = Array.from({ length: ARCHIVES }, () => new AbortController());
  const archives = clients.map(({ signal }) =>
    open("GET", "/home/many/", {
      headers: { accept: "application/zip" },
      signal,
      undescribed: "The client disconnects.",
    }),
  );
  while (read.filter((folder) => folder === "many").length < 10) await new Promise((resolve) => setImmediate(resolve));
  return async () => {
    for (const client of clients) client.abort();
    await Promise.all(archives);
  };
}

describe("many archives of large folders at the same time", () => {
  it.each([
    ["another account", "bob", "/home/"],
    ["the same account", "alice", "/home/few/"],
  ] as const)("delay a listing of %s by a few batches for each of its own", async (_whose, as, target) => {
    const { test, read } = await createListed();
    // A login takes longer than all of the rest. It is remembered.
    await test.call("GET", target, { variant: "json", as });
    const end = await startArchives(test, read);
    const before = read.length;
    const listing = await test.call("GET", target, { variant: "json", as });
    const batches = read.slice(before).filter((folder) => folder === "many").length;
    await end();
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(256 * BATCHES);
    expect(batches).toBeLessThan(5 * BATCHES);
  });

  it("end without reading their folders if their clients disconnect while they wait", async () => {
    const { test, read } = await createListed();
    const end = await startArchives(test, read);
    const before = read.length;
    await end();
    expect(read.length - before).toBeLessThan(10);
    expect((await test.call("GET", "/home/few/", { variant: "json" })).status).toBe(200);
  });
});
