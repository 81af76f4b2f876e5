import { beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { ARCHIVE, begin, createCounted, PAGE, PEER, statusOf } from "./large-folders.ts";

describe.each([
  ["pages", PAGE],
  ["archives", ARCHIVE],
])("the memory for the members of an account's %s (limits.pageBytesPerAccount)", (_name, of) => {
  const { bytes } = of;
  let test: TestService;
  beforeEach(async () => {
    test = await createCounted(of);
  });

  it.each<[string, (response: Response) => Promise<unknown>]>([
    ["is read", (response) => response.arrayBuffer()],
    ["is cancelled", async (response) => response.body?.cancel()],
  ])("is free when it %s", async (_how, end) => {
    const response = await begin(of, test);
    expect(await statusOf(of, test)).toBe(503);
    await end(response);
    expect(await statusOf(of, test)).toBe(200);
  });

  it("may be more than the limit for a single one", async () => {
    const limited = await createCounted(of, { limits: { pageBytesPerAccount: 1, transfersPerAccount: 1 } });
    expect(await of.countMembers(await begin(of, limited))).toBe(2500);
    expect(await statusOf(of, limited)).toBe(200);
  });

  it("leaves small folders, other responses and other accounts alone", async () => {
    await begin(of, test);
    expect(await statusOf(of, test, "/home/small/")).toBe(200);
    expect((await test.call("GET", "/home/large/", { variant: "json" })).status).toBe(200);
    expect((await test.call("GET", "/home/large/1.txt")).status).toBe(200);
    expect(await statusOf(of, test, "/home/large/", { as: "bob" })).toBe(200);
  });

  it("has a limit for all together, whatever the account and the address (limits.pageBytesPerProcess)", async () => {
    const limits = { pageBytesPerAccount: 0, pageBytesPerAddress: 0, pageBytesPerProcess: 2 * bytes - 1 };
    const limited = await createCounted(of, { limits });
    const elsewhere = { as: "bob", connection: { peer: { ...PEER, address: "192.0.2.2" } } } as const;
    const response = await begin(of, limited);
    const refused = await limited.call("GET", "/home/large/", { ...of.request, ...elsewhere });
    expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
    expect(limited.log.entries).toContainEqual(
      expect.objectContaining({ level: "warn", details: { pageBytesPerProcess: 2 * bytes - 1 } }),
    );
    await response.body?.cancel();
    expect(await statusOf(of, limited, "/home/large/", elsewhere)).toBe(200);
    const small = await createCounted(of, { limits: { ...limits, pageBytesPerProcess: 1 } });
    expect(await of.countMembers(await begin(of, small)), "a single one").toBe(2500);
  });

  it("has a limit for an address, too, whatever the account (limits.pageBytesPerAddress)", async () => {
    const limits = { pageBytesPerAccount: 0, pageBytesPerAddress: 2 * bytes - 1 };
    const limited = await createCounted(of, { limits });
    await begin(of, limited);
    expect(await statusOf(of, limited, "/home/large/", { as: "bob" })).toBe(503);
    const elsewhere = { as: "bob", connection: { peer: { ...PEER, address: "192.0.2.2" } } } as const;
    expect(await statusOf(of, limited, "/home/large/", elsewhere)).toBe(200);
  });

  it.each<[string, () => StorageAdapter | undefined]>([
    ["", () => undefined],
    [", however slowly a refused listing ends", createSlowlyEnding],
  ])("lets one of several in that are each more than the limit%s", async (_how, createStorage) => {
    for (const clients of [2, 3, 8]) {
      const storage = createStorage();
      const limits = { pageBytesPerAccount: bytes - 100_000 };
      const limited = await createCounted(of, storage === undefined ? { limits } : { storage, limits });
      const statuses = await Promise.all(Array.from({ length: clients }, () => statusOf(of, limited)));
      expect(statuses).toContain(200);
    }
  });

  it("is not counted if both limits are 0", async () => {
    const free = await createCounted(of, { limits: { pageBytesPerAccount: 0, pageBytesPerAddress: 0 } });
    for (let time = 0; time < 5; time++) await begin(of, free);
    expect(free.log.entries).toEqual([]);
  });
});

/** Creates a storage whose listings take 50 ms to end. */
function createSlowlyEnding(): StorageAdapter {
  const base = createMemoryStorage();
  return overrideStorage(base, {
    async *list(path) {
      try {
        yield* base.list(path);
      } finally {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  });
}
