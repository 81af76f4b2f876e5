import { beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { BROWSER_HEADERS, formOf } from "../../support/forms.ts";
import {
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const PEER = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;

/** So many files in a folder, by their storage paths. */
function filesIn(folder: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/${index}.txt`, ""]));
}

const FILES = {
  ...filesIn("/alice/small", 1000),
  ...filesIn("/alice/large", 2500),
  ...filesIn("/bob/large", 2500),
};

/**
 * What a page of the large folder counts for: 512 KiB, and 300 bytes and two for each code unit of the name for each
 * member.
 */
const LARGE = 524_288 + Object.keys(filesIn("", 2500)).reduce((sum, { length }) => sum + 300 + 2 * (length - 1), 0);

/** A service for whose pages an account may have a large page and a small one at a time. */
function createCounted(options: TestServiceOptions = {}): Promise<TestService> {
  return createTestService({ files: FILES, ...options, limits: { pageBytesPerAccount: 2_200_000, ...options.limits } });
}

/** Begins a page of which nothing is read. */
async function begin({ open }: TestService, options: CallOptions = {}): Promise<Response> {
  const response = await open("GET", "/home/large/", { variant: "html", connection: { peer: PEER }, ...options });
  expect(response.status).toBe(200);
  return response;
}

async function statusOf({ call }: TestService, options: CallOptions = {}): Promise<number> {
  return (await call("GET", "/home/large/", { variant: "html", connection: { peer: PEER }, ...options })).status;
}

describe("what may be held at a time for the pages of an account (limits.pageBytesPerAccount)", () => {
  let test: TestService;
  beforeEach(async () => {
    test = await createCounted();
  });

  it("is no more than that: one more large page is 503 with Retry-After, and the log hears of it once", async () => {
    await begin(test);
    for (const language of ["en", "de"]) {
      const headers = { "accept-language": language };
      const refused = await test.call("GET", "/home/large/", { variant: "html", headers });
      expect(refused.status).toBe(503);
      expect(refused.header("retry-after")).toMatch(/^\d+$/);
      const text = language === "de" ? "Zu viele gleichzeitige Seitenaufrufe." : "Too many concurrent page requests.";
      expect(refused.text).toContain(text);
    }
    expect(test.log.entries.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({
        details: { account: "alice", pageBytesPerAccount: 2_200_000 },
        message: "The memory limit for pages and archives is reached; further ones are rejected.",
      }),
    ]);
  });

  it.each<[string, (page: Response) => Promise<unknown>]>([
    ["is read", (page) => page.text()],
    ["is let go of", async (page) => page.body?.cancel()],
  ])("is free when the page %s", async (_how, end) => {
    const page = await begin(test);
    expect(await statusOf(test)).toBe(503);
    await end(page);
    expect(await statusOf(test)).toBe(200);
  });

  it("may be more than the limit where nothing else is shown", async () => {
    const limited = await createCounted({ limits: { pageBytesPerAccount: 1, transfersPerAccount: 1 } });
    const page = await begin(limited);
    expect((await page.text()).match(/<tr data-name=/g)).toHaveLength(2500);
    expect(await statusOf(limited)).toBe(200);
  });

  it("does not keep anybody from small pages, other answers, and other accounts from theirs", async () => {
    await begin(test);
    const { call } = test;
    expect((await call("GET", "/home/small/", { variant: "html" })).status).toBe(200);
    expect((await call("GET", "/home/large/", { variant: "json" })).status).toBe(200);
    expect((await call("HEAD", "/home/large/", { variant: "html" })).status).toBe(200);
    expect((await call("GET", "/home/large/1.txt")).status).toBe(200);
    expect(await statusOf(test, { as: "bob" })).toBe(200);
  });

  it("is free again when the listing fails midway", async () => {
    let fails = true;
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list(path) {
        for await (const member of base.list(path)) {
          if (fails && member.name === "2200.txt") throw new StorageError("unavailable", "gone");
          yield member;
        }
      },
    });
    const failing = await createCounted({ storage });
    for (let time = 0; time < 3; time++) expect(await statusOf(failing)).toBe(503);
    fails = false;
    expect(await statusOf(failing)).toBe(200);
  });

  it("is that of the answer to a form, too, which is there without members where it is too much, and says so", async () => {
    const page = await begin(test);
    const body = formOf(["action", "delete-members"]);
    const post = (): Promise<Response> => test.open("POST", "/home/large/", { headers: BROWSER_HEADERS, body });
    const without = await post();
    expect(without.status).toBe(400);
    const text = await without.text();
    expect(text).toContain("Select at least one item.");
    expect(text).toContain("Too many concurrent page requests.");
    expect(text).not.toContain("<tr data-name=");
    await page.body?.cancel();
    const whole = await post();
    expect(await statusOf(test)).toBe(503);
    expect((await whole.text()).match(/<tr data-name=/g)).toHaveLength(2500);
    expect(await statusOf(test)).toBe(200);
  });

  it("has a limit for an address as well, whatever the account (limits.pageBytesPerAddress)", async () => {
    const limited = await createCounted({ limits: { pageBytesPerAccount: 0, pageBytesPerAddress: 2 * LARGE - 1 } });
    await begin(limited);
    expect(await statusOf(limited, { as: "bob" })).toBe(503);
    expect(await statusOf(limited, { as: "bob", connection: { peer: { ...PEER, address: "192.0.2.2" } } })).toBe(200);
  });

  it.each([
    ["account", { pageBytesPerAccount: 1, pageBytesPerAddress: 2 * LARGE - 1 }, "bob" as const, PEER],
    ["address", { pageBytesPerAccount: 2 * LARGE - 1, pageBytesPerAddress: 1 }, "alice" as const, undefined],
  ])("has two limits, of which a small one for an %s does not hide the other", async (_of, limits, as, peer) => {
    const limited = await createCounted({ limits });
    await begin(limited);
    expect(await statusOf(limited, { as, connection: peer === undefined ? {} : { peer } })).toBe(503);
    const wider = await createCounted({ limits: { pageBytesPerAccount: 2 * LARGE, pageBytesPerAddress: 2 * LARGE } });
    await begin(wider);
    expect(await statusOf(wider, { as, connection: peer === undefined ? {} : { peer } })).toBe(200);
  });

  it("lets one of several pages in that are each more than the limit, however slowly a refused listing ends", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list(path) {
        try {
          yield* base.list(path);
        } finally {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      },
    });
    for (const clients of [2, 3, 8]) {
      const limited = await createCounted({ storage, limits: { pageBytesPerAccount: LARGE - 100_000 } });
      const statuses = await Promise.all(Array.from({ length: clients }, () => statusOf(limited)));
      expect(statuses.filter((status) => status === 200)).not.toEqual([]);
    }
  });

  it("is told as a listing that came to nothing (6)", async () => {
    const events: FileEvent[] = [];
    const told = await createCounted({ onEvent: (event) => void events.push(event) });
    await begin(told);
    events.length = 0;
    expect(await statusOf(told)).toBe(503);
    const [begun, ended] = events.filter(({ id }) => id !== 40007);
    expect([begun?.id, ended?.id]).toEqual([40006, 40014]);
    expect(ended?.data).toMatchObject({ details: "Too many concurrent page requests." });
  });

  it("is free when its client goes while the folder is listed", async () => {
    const base = createMemoryStorage();
    let listed: () => void = () => undefined;
    const isListed = new Promise<void>((resolve) => {
      listed = resolve;
    });
    const storage = overrideStorage(base, {
      async *list(path) {
        let count = 0;
        for await (const member of base.list(path)) {
          yield member;
          count += 1;
          if (count === 2000) listed();
          if (count >= 2000) await new Promise((resolve) => setTimeout(resolve));
        }
      },
    });
    const slow = await createCounted({ storage });
    const client = new AbortController();
    const page = slow.open("GET", "/home/large/", { variant: "html", signal: client.signal, undescribed: "gone" });
    await isListed;
    client.abort();
    await page;
    expect(await statusOf(slow)).toBe(200);
  });

  it("is not counted where both limits are 0", async () => {
    const free = await createCounted({ limits: { pageBytesPerAccount: 0, pageBytesPerAddress: 0 } });
    for (let time = 0; time < 5; time++) await begin(free);
    expect(free.log.entries).toEqual([]);
  });
});
