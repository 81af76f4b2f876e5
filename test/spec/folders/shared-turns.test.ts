import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { put } from "../../../src/testing/storage/content.ts";
import { createTestService, type TestService, type TestServiceOptions } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const ARCHIVES = 40;
const BATCHES = 10;
const MIB = 1_048_576;
/** Groups without the permission to remove one member of a folder. */
const DENIED: TestServiceOptions = {
  groups: { DEFAULT_GROUP: { permissions: [["allow-full-control"], ["*/25599.txt", "allow-read"]] } },
};

/** A service whose folders have endless members for alice and 10 batches for bob, and the batches that are read. */
async function createListed(
  options: TestServiceOptions = {},
): Promise<{ readonly test: TestService; readonly read: string[] }> {
  const read: string[] = [];
  const base = createMemoryStorage();
  for (const folder of ["/alice", "/alice/many", "/bob"]) await base.createFolder(folder);
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
  return {
    test: await createTestService({ storage, isWatched: false, limits: { pageBytesPerAccount: 0 }, ...options }),
    read,
  };
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

/** Counts the batches of the large folder that were read between the first and the last one of another folder. */
function countBetween(read: readonly string[], folder: string): number {
  return read.slice(read.indexOf(folder), read.lastIndexOf(folder)).filter((each) => each === "many").length;
}

describe("many removals of large folders at the same time", () => {
  it("delay a listing of another account by a few batches for each of its own, and read one folder at a time", async () => {
    const { test, read } = await createListed(DENIED);
    await test.call("GET", "/home/", { variant: "json", as: "bob" });
    const removals = Array.from({ length: ARCHIVES }, () => test.call("DELETE", "/home/many/"));
    while (read.length < 10) await new Promise((resolve) => setImmediate(resolve));
    const before = read.length;
    const listing = await test.call("GET", "/home/", { variant: "json", as: "bob" });
    const others = countBetween(read.slice(before), "bob");
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(256 * BATCHES);
    expect(others).toBeLessThan(20 * BATCHES);
    expect((await Promise.all(removals)).map(({ status }) => status)).toEqual(removals.map(() => 403));
  });
});

describe("HEAD of an archive", () => {
  it("reads only the first members of the folder", async () => {
    const { test, read } = await createListed();
    const answer = await test.call("HEAD", "/home/many/", { headers: { accept: "application/zip" } });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/zip"]);
    expect(read.length).toBeLessThan(3);
  });
});

describe("an archive whose response is cancelled, while the signal of its request stays", () => {
  it("keeps no place from the next archives of the account", async () => {
    const base = createMemoryStorage();
    await base.createFolder("/alice");
    await base.createFolder("/alice/hung");
    await put(base, "/alice/a.zip", "x".repeat(MIB));
    const storage = overrideStorage(base, {
      async *list(path) {
        if (path === "/alice/hung") await new Promise(() => undefined);
        for (const [name, kind, size] of [
          ["a.zip", "file", MIB],
          ["hung", "folder", 0],
        ] as const) {
          yield { name, kind, size, modified: new Date(0) };
        }
      },
    });
    const { open } = await createTestService({ storage, isWatched: false, archive: { method: "deflate" } });
    const headers = { accept: "application/zip" };
    for (let index = 0; index < 3; index += 1) {
      const response = await open("GET", "/home/", { headers });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    }
    const next = await open("GET", "/home/", { headers });
    expect(next.status).toBe(200);
    await next.body?.cancel();
  });
});

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
    const batches = countBetween(read.slice(before), as === "bob" ? "bob" : "few");
    await end();
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(256 * BATCHES);
    expect(batches).toBeLessThan(20 * BATCHES);
  });

  it("read one batch more at most if their clients disconnect while they wait", async () => {
    const { test, read } = await createListed();
    const end = await startArchives(test, read);
    const before = read.length;
    await end();
    expect(read.length - before).toBeLessThanOrEqual(ARCHIVES);
    expect((await test.call("GET", "/home/few/", { variant: "json" })).status).toBe(200);
  });
});
