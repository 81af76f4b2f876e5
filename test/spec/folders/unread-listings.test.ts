import { describe, expect, it } from "vitest";
import { toMembers } from "../../../src/contracts/member-batches.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { put } from "../../../src/testing/storage/content.ts";
import { createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const MANY = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`/alice/many/member-${index}.txt`, ""]));
const LIMITS = { limits: { transfersPerAccount: 2 } };

describe("a listing as JSON that the client has not read", () => {
  it("is a transfer if it is long, as it holds its folder open; HEAD and short ones are none", async () => {
    const { open, call } = await createTestService({ ...LIMITS, files: { ...MANY, "/alice/few/a.txt": "" } });
    const unread = [
      await open("GET", "/home/many/", { variant: "json" }),
      await open("GET", "/home/many/", { variant: "json" }),
    ];
    expect(unread.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await call("GET", "/home/many/", { variant: "json" });
    expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
    expect((await call("PUT", "/home/new.txt", { body: "x", variant: "json" })).status).toBe(503);
    expect((await call("GET", "/home/few/", { variant: "json" })).status).toBe(200);
    expect((await call("HEAD", "/home/many/", { variant: "json" })).status).toBe(200);
    await unread[0]?.body?.cancel();
    const listing = await call("GET", "/home/many/", { variant: "json" });
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(2000);
    // What was read to its end counts no more.
    expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(200);
    await unread[1]?.body?.cancel();
  });

  it("lets the service forget a refused one: nothing stays open", async () => {
    const { open, call } = await createTestService({ limits: { transfersPerAccount: 1 }, files: MANY });
    const unread = await open("GET", "/home/many/", { variant: "json" });
    for (let count = 0; count < 5; count += 1)
      expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(503);
    await unread.body?.cancel();
    expect((await call("GET", "/home/many/", { variant: "json" })).status).toBe(200);
  });

  it.each([
    ["sorted by name", "/home/many/", { prefer: "order=name" }],
    ["a page of 1,500 members", "/home/many/?limit=1500", {}],
  ])("is a transfer if it is long: %s", async (_what, target, headers) => {
    const { open, call } = await createTestService({ ...LIMITS, files: { ...MANY, "/alice/few/a.txt": "" } });
    const unread = [
      await open("GET", target, { variant: "json", headers }),
      await open("GET", target, { variant: "json", headers }),
    ];
    expect(unread.map(({ status }) => status)).toEqual([200, 200]);
    expect((await call("GET", target, { variant: "json", headers })).status).toBe(503);
    expect((await call("GET", target.replace("many", "few"), { variant: "json", headers })).status).toBe(200);
    for (const response of unread) await response.body?.cancel();
    expect((await call("GET", target, { variant: "json", headers })).status).toBe(200);
    expect((await call("GET", target, { variant: "json", headers })).status).toBe(200);
  });
});

describe("a sorted listing as JSON that is not read to its end yet", () => {
  const KINDS = [
    ["sorted by name", "/home/many/", { prefer: "order=name" }],
    ["a page", "/home/many/?limit=10", {}],
  ] as const;

  /** A service whose folder yields empty steps until the test stops it, and the number of steps so far. */
  async function createEndless() {
    const steps = { given: 0, held: Number.POSITIVE_INFINITY };
    const base = createMemoryStorage();
    for (const folder of ["/alice", "/alice/many"]) await base.createFolder(folder);
    await put(base, "/alice/a", "a");
    const storage = overrideStorage(base, {
      list: () =>
        toMembers(async function* () {
          while (steps.given < steps.held) {
            steps.given += 1;
            yield [];
            await new Promise((resolve) => setImmediate(resolve));
          }
          await new Promise(() => undefined);
        }),
    });
    const test = await createTestService({ storage, isWatched: false, limits: { transfersPerAccount: 1 } });
    return { test, steps };
  }

  it.each(KINDS)("is a transfer after a few steps: %s", async (_what, target, headers) => {
    const { test, steps } = await createEndless();
    steps.held = 20;
    const client = new AbortController();
    const listing = test.open("GET", target, {
      variant: "json",
      headers,
      signal: client.signal,
      undescribed: "The client disconnects.",
    });
    listing.catch(() => undefined);
    await expect.poll(() => steps.given).toBe(20);
    expect((await test.call("GET", "/home/a", { variant: "json" })).status).toBe(503);
    client.abort();
  });

  it.each(KINDS)("ends with the next step when its client disconnects: %s", async (_what, target, headers) => {
    const { test, steps } = await createEndless();
    const client = new AbortController();
    const listing = test.open("GET", target, {
      variant: "json",
      headers,
      signal: client.signal,
      undescribed: "The client disconnects.",
    });
    await expect.poll(() => steps.given).toBeGreaterThan(20);
    client.abort();
    const given = steps.given;
    await listing.catch(() => undefined);
    expect(steps.given - given).toBeLessThanOrEqual(1);
    expect((await test.call("GET", "/home/a", { variant: "json" })).status).toBe(200);
  });
});
