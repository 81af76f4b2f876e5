import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService, type TestServiceOptions } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

interface Found {
  readonly content: readonly { readonly path: string; readonly name: string; readonly is_directory: boolean }[];
  readonly truncated: boolean;
}

const FILES = {
  "/alice/report.txt": "1",
  "/alice/b/Report 2.TXT": "22",
  "/alice/b/c/annual-reports/x.txt": "x",
  "/alice/b/c/Café.txt": "x",
  "/alice/b/c/cafe\u0301 noir.txt": "x",
  "/alice/d/other.txt": "x",
};

function openService(options: TestServiceOptions = {}): Promise<TestService> {
  return createTestService({ files: FILES, ...options });
}

async function search({ call }: TestService, q: string, folder = "/home/"): Promise<Found> {
  const answer = await call("GET", `${folder}?q=${encodeURIComponent(q)}`, { variant: "json" });
  expect(answer.status).toBe(200);
  return answer.json<Found>();
}

const pathsOf = ({ content }: Found) => content.map(({ path }) => path);

function withSettings(settings: AccountSettings): TestServiceOptions {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return { authentication: createAccountsAuthenticator({ accounts: [account] }) };
}

describe("GET /home/<folder>/?q=<text>", () => {
  it("finds files and folders below by a part of their names, the nearest first, with their paths", async () => {
    const service = await openService();
    const found = await search(service, "REPORT");
    expect(pathsOf(found)).toEqual(["report.txt", "b/Report 2.TXT", "b/c/annual-reports"]);
    expect(found.truncated).toBe(false);
    expect(found.content[1]).toMatchObject({ name: "Report 2.TXT", is_directory: false, size: 2 });
    expect(found.content[2]).toMatchObject({ name: "annual-reports", is_directory: true, size: 0 });
    expect(pathsOf(await search(service, "report", "/home/b/"))).toEqual(["Report 2.TXT", "c/annual-reports"]);
    expect(await search(service, "nothing of this name")).toEqual({ content: [], truncated: false });
  });

  it("takes letters with and without accents, composed or not, for the same", async () => {
    const service = await openService();
    for (const text of ["cafe", "CAFÉ", "cafe\u0301", "ｃａｆｅ"]) {
      expect(pathsOf(await search(service, text))).toEqual(["b/c/Café.txt", "b/c/cafe\u0301 noir.txt"]);
    }
  });

  it.each(["", "%20", "\u0301", "a&q=b", "x".repeat(256)])("refuses the text %j", async (text) => {
    const { call } = await openService();
    const query = text.includes("&") || text === "%20" ? text : encodeURIComponent(text);
    const isText = text === "%20";
    const answer = await call("GET", `/home/?q=${query}`, { variant: "json", undescribed: "wrong on purpose" });
    expect([answer.status, answer.header("error-code")]).toEqual(isText ? [200, null] : [400, "search-invalid"]);
  });

  it("shows only what the account may list, and never the reserved name", async () => {
    const permissions: AccountSettings["permissions"] = [["allow-list"], ["/b/c | /b/c/*", "deny-full-control"]];
    const service = await openService(withSettings({ permissions }));
    expect(pathsOf(await search(service, "report"))).toEqual(["report.txt", "b/Report 2.TXT"]);
    expect(pathsOf(await search(service, "t"))).not.toContain("b/c/Café.txt");
    const denied = await service.call("GET", "/home/b/c/?q=x", { variant: "json" });
    expect(denied.status).toBe(403);
    const hidden = await openService({ files: { ...FILES, "/alice/__svc__/report.txt": "x" } });
    expect(pathsOf(await search(hidden, "report"))).not.toContain("__svc__/report.txt");
    expect(pathsOf(await search(hidden, "svc"))).toEqual([]);
  });

  it("finds folders alone for an account that may only traverse", async () => {
    const service = await openService(withSettings({ permissions: [["allow-traverse"]] }));
    expect(pathsOf(await search(service, "report"))).toEqual(["b/c/annual-reports"]);
  });

  it("finds what is in virtual folders", async () => {
    const settings: AccountSettings = { virtual_folders: [["/shared", "/common"]] };
    const service = await openService({
      files: { ...FILES, "/common/deep/report 3.txt": "x" },
      ...withSettings(settings),
    });
    expect(pathsOf(await search(service, "report 3"))).toEqual(["shared/deep/report 3.txt"]);
  });

  it("says if there are more results than its limit, and not if there are as many", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`/alice/f/${index}-x.txt`, "x"]));
    for (const [searchResults, truncated] of [
      [29, true],
      [30, false],
    ] as const) {
      const found = await search(await openService({ files, limits: { searchResults } }), "x.txt");
      expect([found.content.length, found.truncated]).toEqual([searchResults, truncated]);
    }
  });

  it("looks at so many members, and says so", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`/alice/${index}.txt`, "x"]));
    for (const [searchMembers, truncated] of [
      [29, true],
      [30, false],
    ] as const) {
      const found = await search(await openService({ files, limits: { searchMembers } }), "nothing");
      expect(found).toEqual({ content: [], truncated });
    }
  });

  it("ends in time, with what it has", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list(path) {
        if (path !== "/alice") await new Promise((resolve) => setTimeout(resolve, 700));
        yield* base.list(path);
      },
    });
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`/alice/f${index}/report.txt`, "x"]));
    const startedAt = Date.now();
    const found = await search(await openService({ storage, files, limits: { searchSeconds: 1 } }), "report");
    expect(Date.now() - startedAt).toBeLessThan(4000);
    expect(found.truncated).toBe(true);
    expect(found.content.length).toBeGreaterThan(0);
    expect(found.content.length).toBeLessThan(9);
  });

  it("ends in time, although no folder has a member", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list(path) {
        if (path !== "/alice") await new Promise((resolve) => setTimeout(resolve, 300));
        yield* base.list(path);
      },
    });
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`/alice/f${index}/`, ""]));
    const startedAt = Date.now();
    const found = await search(await openService({ storage, files, limits: { searchSeconds: 1 } }), "report.txt");
    expect(Date.now() - startedAt).toBeLessThan(4000);
    expect(found).toEqual({ content: [], truncated: true });
  });

  it("is sent while it goes on, and ends when the client leaves", async () => {
    const base = createMemoryStorage();
    let listed = 0;
    let isReleased = false;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = () => {
        isReleased = true;
        resolve();
      };
    });
    const storage = overrideStorage(base, {
      async *list(path) {
        if (path !== "/alice") listed += 1;
        if (listed > 1 && !isReleased) await released;
        yield* base.list(path);
      },
    });
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`/alice/f${index}/report.txt`, "x"]));
    const { open } = await openService({ storage, files });
    const response = await open("GET", "/home/?q=report", { variant: "json" });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("report.txt")) text += new TextDecoder().decode((await reader?.read())?.value);
    const cancelled = reader?.cancel();
    release();
    await cancelled;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(listed).toBeLessThan(5);
  });

  it("leaves out a folder that has gone meanwhile, and counts as a transfer", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      list: (path) => (path === "/alice/b" ? base.list("/none") : base.list(path)),
    });
    expect(pathsOf(await search(await openService({ storage }), "report"))).toEqual(["report.txt"]);
    const { call, open } = await openService({ limits: { transfersPerAccount: 1 } });
    const first = await open("GET", "/home/?q=report", { variant: "json" });
    expect((await call("GET", "/home/?q=report", { variant: "json" })).status).toBe(503);
    await first.body?.cancel();
    expect((await call("GET", "/home/?q=report", { variant: "json" })).status).toBe(200);
  });

  it("is a page with paths for browsers, and the folder itself for an empty text", async () => {
    const { call } = await openService({ limits: { searchResults: 2 } });
    const page = await call("GET", "/home/?q=report", { variant: "html" });
    expect(page.header("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("Found for “report”");
    expect(page.text).toContain('href="./b/Report%202.TXT"');
    expect(page.text).toContain('href="./b/"');
    expect(page.text).toContain("There may be more.");
    expect((await call("GET", "/home/?q=none", { variant: "html" })).text).toContain("Nothing was found.");
    const hostile = await call("GET", `/home/?q=${encodeURIComponent("<script>x</script>")}`, { variant: "html" });
    expect(hostile.text).not.toContain("<script>x");
    const plain = await call("GET", "/home/?q=", { variant: "html", undescribed: "what a form sends" });
    expect(plain.text).toContain('id="members"');
  });

  it("keeps what follows the name of a folder in its place, whatever the name has", async () => {
    const { call } = await openService({ files: { "/alice/\u202egpj.x/a.txt": "x" } });
    const page = await call("GET", "/home/?q=x", { variant: "html" });
    expect(page.text).toContain("</i><bdi>\u202egpj.x</bdi>/</a>");
  });

  it.each(["json", "html"] as const)("gives its memory back, again and again (%s)", async (variant) => {
    const { call } = await openService({ limits: { pageBytesPerAccount: 1 } });
    for (let round = 0; round < 3; round += 1) {
      const answer = await call("GET", "/home/?q=annual", { variant });
      expect([round, answer.status]).toEqual([round, 200]);
      expect(answer.text).toContain("annual-reports");
    }
  });

  it("answers HEAD without a walk", async () => {
    const { call } = await openService();
    const answer = await call("HEAD", "/home/?q=report", { variant: "json" });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect((await call("HEAD", "/home/none/?q=report", { variant: "json" })).status).toBe(404);
  });

  it("reads a folder of many members with the memory of a few", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list(path) {
        if (path !== "/alice/many") return yield* base.list(path);
        for (let index = 0; index < 50_000; index += 1) {
          yield { name: `file ${index}.txt`, kind: "file", size: 1, modified: new Date(0) };
        }
      },
    });
    const found = await search(await openService({ storage, files: { "/alice/many/": "" } }), "file 4999");
    expect(found.content.length).toBe(11);
    expect(found.truncated).toBe(false);
  });
});
