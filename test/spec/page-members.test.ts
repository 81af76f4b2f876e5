import { beforeEach, describe, expect, it } from "vitest";
import { StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { BROWSER_HEADERS, formOf } from "../support/forms.ts";
import { type CallOptions, createTestService, type TestService, type TestServiceOptions } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

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

/** A service on whose pages an account may have 3,000 members at a time. */
function createCounted(options: TestServiceOptions = {}): Promise<TestService> {
  return createTestService({ files: FILES, ...options, limits: { pageMembersPerAccount: 3000, ...options.limits } });
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

describe("the members that the pages of an account may hold at a time (limits.pageMembersPerAccount)", () => {
  let test: TestService;
  beforeEach(async () => {
    test = await createCounted();
  });

  it("are no more than that: one more large page is 503 with Retry-After, and the log hears of it once", async () => {
    await begin(test);
    for (const language of ["en", "de"]) {
      const headers = { "accept-language": language };
      const refused = await test.call("GET", "/home/large/", { variant: "html", headers });
      expect(refused.status).toBe(503);
      expect(refused.header("retry-after")).toMatch(/^\d+$/);
      const text = language === "de" ? "Zu viele Seiten großer Ordner" : "Too many pages of large folders";
      expect(refused.text).toContain(text);
    }
    expect(test.log.entries.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({
        details: { account: "alice", pageMembersPerAccount: 3000 },
        message: "Pages of large folders are refused: there are as many as limits allow.",
      }),
    ]);
  });

  it.each<[string, (page: Response) => Promise<unknown>]>([
    ["is read", (page) => page.text()],
    ["is let go of", async (page) => page.body?.cancel()],
  ])("are free when the page %s", async (_how, end) => {
    const page = await begin(test);
    expect(await statusOf(test)).toBe(503);
    await end(page);
    expect(await statusOf(test)).toBe(200);
  });

  it("are all shown, and may be more than the limit where nothing else is shown", async () => {
    const limited = await createCounted({ limits: { pageMembersPerAccount: 1, transfersPerAccount: 1 } });
    const page = await begin(limited);
    expect((await page.text()).match(/<tr data-name=/g)).toHaveLength(2500);
    expect(await statusOf(limited)).toBe(200);
  });

  it("do not keep anybody from small pages, other answers, and other accounts from theirs", async () => {
    await begin(test);
    const { call } = test;
    expect((await call("GET", "/home/small/", { variant: "html" })).status).toBe(200);
    expect((await call("GET", "/home/large/", { variant: "json" })).status).toBe(200);
    expect((await call("HEAD", "/home/large/", { variant: "html" })).status).toBe(200);
    expect((await call("GET", "/home/large/1.txt")).status).toBe(200);
    expect(await statusOf(test, { as: "bob" })).toBe(200);
  });

  it("are free again when the listing fails midway", async () => {
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

  it("are those of the answer to a form, too, which is there without them where there are too many", async () => {
    const page = await begin(test);
    const body = formOf(["action", "delete-members"]);
    const post = (): Promise<Response> => test.open("POST", "/home/large/", { headers: BROWSER_HEADERS, body });
    const without = await post();
    expect(without.status).toBe(400);
    const text = await without.text();
    expect(text).toContain("Nothing is selected.");
    expect(text).not.toContain("<tr data-name=");
    await page.body?.cancel();
    const whole = await post();
    expect(await statusOf(test)).toBe(503);
    expect((await whole.text()).match(/<tr data-name=/g)).toHaveLength(2500);
    expect(await statusOf(test)).toBe(200);
  });

  it("have a limit for an address as well, whatever the account (limits.pageMembersPerAddress)", async () => {
    const limited = await createCounted({ limits: { pageMembersPerAccount: 0, pageMembersPerAddress: 4999 } });
    await begin(limited);
    expect(await statusOf(limited, { as: "bob" })).toBe(503);
    expect(await statusOf(limited, { as: "bob", connection: { peer: { ...PEER, address: "192.0.2.2" } } })).toBe(200);
  });

  it("are not counted where both limits are 0", async () => {
    const free = await createCounted({ limits: { pageMembersPerAccount: 0, pageMembersPerAddress: 0 } });
    for (let time = 0; time < 5; time++) await begin(free);
    expect(free.log.entries).toEqual([]);
  });
});
