import { beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { BROWSER_HEADERS, formOf } from "../../support/forms.ts";
import type { TestService, TestServiceOptions } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { begin, createCounted, PAGE, PEER, statusOf } from "./large-folders.ts";

const createPages = (options?: TestServiceOptions) => createCounted(PAGE, options);

describe("what may be held at a time for the pages of an account (limits.pageBytesPerAccount)", () => {
  let test: TestService;
  beforeEach(async () => {
    test = await createPages();
  });

  it("is no more than that: one more large page is 503 with Retry-After, and the log hears of it once", async () => {
    await begin(PAGE, test);
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
        details: { account: "alice", pageBytesPerAccount: PAGE.limit },
        message: "The memory limit for pages and archives is reached; further ones are rejected.",
      }),
    ]);
  });

  it("leaves HEAD alone", async () => {
    await begin(PAGE, test);
    expect((await test.call("HEAD", "/home/large/", { variant: "html" })).status).toBe(200);
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
    const failing = await createPages({ storage });
    for (let time = 0; time < 3; time++) expect(await statusOf(PAGE, failing)).toBe(503);
    fails = false;
    expect(await statusOf(PAGE, failing)).toBe(200);
  });

  it("is that of the answer to a form, too, which is there without members where it is too much, and says so", async () => {
    const page = await begin(PAGE, test);
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
    expect(await statusOf(PAGE, test)).toBe(503);
    expect((await whole.text()).match(/<tr data-name=/g)).toHaveLength(2500);
    expect(await statusOf(PAGE, test)).toBe(200);
  });

  it.each([
    ["account", { pageBytesPerAccount: 1, pageBytesPerAddress: 2 * PAGE.bytes - 1 }, "bob" as const, PEER],
    ["address", { pageBytesPerAccount: 2 * PAGE.bytes - 1, pageBytesPerAddress: 1 }, "alice" as const, undefined],
  ])("has two limits, of which a small one for an %s does not hide the other", async (_of, limits, as, peer) => {
    const limited = await createPages({ limits });
    await begin(PAGE, limited);
    expect(await statusOf(PAGE, limited, "/home/large/", { as, connection: peer === undefined ? {} : { peer } })).toBe(
      503,
    );
    const wider = await createPages({
      limits: { pageBytesPerAccount: 2 * PAGE.bytes, pageBytesPerAddress: 2 * PAGE.bytes },
    });
    await begin(PAGE, wider);
    expect(await statusOf(PAGE, wider, "/home/large/", { as, connection: peer === undefined ? {} : { peer } })).toBe(
      200,
    );
  });

  it("is told as a listing that came to nothing (6)", async () => {
    const events: FileEvent[] = [];
    const told = await createPages({ onEvent: (event) => void events.push(event) });
    await begin(PAGE, told);
    events.length = 0;
    expect(await statusOf(PAGE, told)).toBe(503);
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
    const slow = await createPages({ storage });
    const client = new AbortController();
    const page = slow.open("GET", "/home/large/", { variant: "html", signal: client.signal, undescribed: "gone" });
    await isListed;
    client.abort();
    await page;
    expect(await statusOf(PAGE, slow)).toBe(200);
  });
});
