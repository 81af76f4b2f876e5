import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../src/contracts/account.ts";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { findNameCheck } from "../../src/storage/disk/names.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { type FormEntry, sendFormForJson } from "../support/forms.ts";
import { basic, type CallOptions, createTestService, type TestService } from "../support/service.ts";

/*
 * Each test is named after a published failure of another project, and shows that its request fails here (SECURITY 1 to
 * 5).
 */

const SECRET = "bob's secret";
const METHODS = ["GET", "HEAD", "PUT", "DELETE", "MKCOL", "POST"] as const;

/** Everything stored, by its path: what a request must not have changed. */
async function walk({ storage }: TestService, path = "/"): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, kind } of storage.list(path)) {
    const below = path === "/" ? `/${name}` : `${path}/${name}`;
    found.push(below);
    if (kind === "folder") found.push(...(await walk({ storage } as TestService, below)));
  }
  return found.sort();
}

/** Sends a target by every method. Each must be refused, reveal nothing and change nothing. */
async function expectRefused(test: TestService, target: string, options: CallOptions = {}): Promise<void> {
  const before = await walk(test);
  for (const method of METHODS) {
    const body = method === "PUT" && !target.endsWith("/") ? "overwritten" : undefined;
    const answer = await test.call(method, target, { variant: "json", ...options, body });
    expect([target, method, Math.floor(answer.status / 100)]).toEqual([target, method, 4]);
    expect(answer.text).not.toContain(SECRET);
  }
  expect(await walk(test)).toEqual(before);
}

async function createDisk(): Promise<{ readonly base: string; readonly root: string }> {
  const base = await mkdtemp(join(tmpdir(), "fileferry-advisories-"));
  onTestFinished(() => rm(base, { recursive: true }));
  const root = join(base, "root");
  await mkdir(root);
  return { base, root };
}

/** A service with one account, alice, of these settings. */
async function createService(settings: AccountSettings, files: Readonly<Record<string, string>>): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return createTestService({ files, authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

describe("paths (SECURITY 1)", () => {
  it.each([
    "/home/.%2e/bob/secret",
    "/home/%2e%2e/bob/secret",
    "/home/%2E%2E/bob/secret",
    "/home/%%32%65%%32%65/bob/secret",
    "/home/.%%32%65/bob/secret",
    "/home/%252e%252e/bob/secret",
    "/home/%2e%2e%2fbob%2fsecret",
    "/home/f/%2e%2e/%2e%2e/bob/secret",
  ])("Apache CVE-2021-41773, CVE-2021-42013: %s, dot segments in an encoding, climbs nowhere", async (target) => {
    await expectRefused(await createTestService({ files: { "/bob/secret": SECRET, "/alice/f/": "" } }), target);
  });

  it("copyparty CVE-2023-37474: the files of the pages lead to no other file of the machine", async () => {
    const test = await createTestService();
    for (const name of ["..%2f..%2fpackage.json", "%2fetc%2fpasswd", "..%5cpackage.json", "../../package.json"]) {
      const answer = await test.call("GET", `/__svc__/assets/${name}`, { as: null });
      expect(answer.status, name).toBeGreaterThanOrEqual(400);
      expect(answer.text).not.toMatch(/root:|"version"/);
    }
  });

  it.each([
    "/home/./private/secret",
    "/home/f/../private/secret",
    "/home/private/./secret",
    "/home/private/f/../secret",
    "/home/%70rivate/secret",
    "/home/priv%61te/secre%74",
  ])("SFTPGo CVE-2026-30914: %s is one path for the permission and for the storage, or none", async (target) => {
    const permissions = [["allow-full-control"], ["/private | /private/*", "deny-full-control"]] as const;
    const files = { "/alice/private/secret": SECRET, "/alice/private/f/": "", "/alice/f/": "" };
    await expectRefused(await createService({ permissions }, files), target);
  });

  it.each([
    "//home/private/secret",
    "/home//private/secret",
    "/home/private//secret",
    "///home/private/secret",
    "/home/%2fprivate/secret",
  ])("hono node-server CVE-2026-39406: %s, slashes that repeat, goes round no rule", async (target) => {
    const permissions = [["allow-full-control"], ["/private | /private/*", "deny-full-control"]] as const;
    await expectRefused(await createService({ permissions }, { "/alice/private/secret": SECRET }), target);
  });
});

describe("prefixes (SECURITY 2)", () => {
  it("filebrowser CVE-2026-35605: a rule of /admin is none of /admin_backup, nor the other way round", async () => {
    const files = { "/alice/admin/a": SECRET, "/alice/admin_backup/a": "own", "/alice/administration": "own" };
    const denied = await createService(
      { permissions: [["allow-full-control"], ["/admin | /admin/*", "deny-full-control"]] },
      files,
    );
    const granted = await createService({ permissions: [[], ["/admin/*", "allow-read"]] }, files);
    const get = async (test: TestService, path: string) => (await test.call("GET", `/home/${path}`)).status;
    expect([await get(denied, "admin/a"), await get(granted, "admin/a")]).toEqual([403, 200]);
    for (const path of ["admin_backup/a", "administration"]) {
      expect([path, await get(denied, path), await get(granted, path)]).toEqual([path, 200, 403]);
    }
  });

  it("goshs CVE-2026-40876: the folder beside the root, or the home, whose name begins alike is outside", async () => {
    const { base, root } = await createDisk();
    await mkdir(join(base, "root-sibling"));
    await writeFile(join(base, "root-sibling/secret"), SECRET);
    const files = { "/alicex/secret": SECRET };
    const test = await createTestService({ files, storage: createDiskStorage({ root, durability: "rename" }) });
    for (const target of [
      "/home/../root-sibling/secret",
      "/home/..%2froot-sibling%2fsecret",
      "/home/../alicex/secret",
      "/home/..%2falicex%2fsecret",
      "/homex/secret",
    ]) {
      await expectRefused(test, target);
      await expectRefused(test, target, { as: "root" });
    }
    expect(await readFile(join(base, "root-sibling/secret"), "utf8")).toBe(SECRET);
  });
});

describe("names (SECURITY 3 to 5)", () => {
  it.each(["/home/private%5Csecret", "/home/private\\secret", "/home/..%5cbob%5csecret"])(
    "hono CVE-2026-54286, Caddy CVE-2026-52844: %s, a backslash, is refused and separates nothing",
    async (target) => {
      const permissions = [["allow-full-control"], ["/private/*", "deny-full-control"]] as const;
      const files = { "/alice/private/secret": SECRET, "/bob/secret": SECRET };
      await expectRefused(await createService({ permissions }, files), target);
    },
  );

  it("Node CVE-2025-27210: names of devices, of streams and those that Windows cuts are refused there", () => {
    const actual = process.platform;
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: actual }));
    Object.defineProperty(process, "platform", { value: "win32" });
    const isValidOnWindows = findNameCheck("/");
    const cut = ["a.", "a ", "a:b", "file.txt::$DATA", "..\\a", "a?", 'a"'];
    for (const name of ["CON", "con", "AUX.txt", "nul", "PRN.", "COM1", "lpt9.log", "COM¹", ...cut]) {
      expect([name, isValidOnWindows(name)]).toEqual([name, false]);
    }
    for (const name of ["console", "com10", "nulls.txt", ".a", "a.b", "ä"]) expect(isValidOnWindows(name)).toBe(true);
    Object.defineProperty(process, "platform", { value: "linux" });
    const isValidOnLinux = findNameCheck("/");
    for (const name of ["CON", "a.", "a ", "a:b"]) expect(isValidOnLinux(name)).toBe(true);
  });

  /** Accepts every name with the password, as a directory might. */
  const anybody: Authenticator = {
    name: "anybody",
    authenticate: async ({ content }) =>
      content === "secret" ? { outcome: "accepted", account: {} } : { outcome: "rejected" },
  };

  it.each(["..", ".", "../alice", "a/b", "a\\b", "/etc", "alice/..", "a\0b", "%2e%2e"])(
    "SFTPGo CVE-2026-30915: a user named %j has no home above or beside its own",
    async (username) => {
      const test = await createTestService({ files: { "/alice/secret": SECRET }, authentication: anybody });
      const before = await walk(test);
      const headers = { authorization: basic(username, "secret") };
      await test.call("PUT", "/home/made", { as: null, headers, body: "x" });
      const got = await test.call("GET", "/home/secret", { as: null, headers });
      expect(got.text).not.toContain(SECRET);
      // Either none, or one that is a single segment and belongs to no other account.
      const made = (await walk(test)).filter((path) => !before.includes(path));
      const home = `/${encodeURIComponent(username)}`;
      expect([[], [home, `${home}/made`]]).toContainEqual(made);
    },
  );

  it("filebrowser CVE-2026-62685: two names never share a home, however alike they are", async () => {
    const test = await createTestService({ authentication: anybody });
    const names = ["alice", "Alice", "alice ", " alice", "alice.", "a.lice", "al-ice", "älice", "a\u0308lice", "alıce"];
    for (const name of names) {
      const headers = { authorization: basic(name, "secret") };
      const put = await test.call("PUT", "/home/own", { as: null, headers, body: name });
      expect([name, put.status]).toEqual([name, 201]);
    }
    for (const name of names) {
      const headers = { authorization: basic(name, "secret") };
      expect((await test.call("GET", "/home/own", { as: null, headers })).text).toBe(name);
    }
  });

  it("goshs CVE-2026-35392: an upload by PUT stays below the root", async () => {
    const { base, root } = await createDisk();
    const storage = createDiskStorage({ root, durability: "rename" });
    const test = await createTestService({ storage });
    for (const target of ["/home/../../evil", "/home/..%2f..%2fevil", "/home/%2e%2e/%2e%2e/evil", "/home//../evil"]) {
      await expectRefused(test, target, { as: "root" });
    }
    expect(await readdir(base)).toEqual(["root"]);
  });

  it.each(["../evil", "..\\evil", "/evil", "a/../../evil", "..", "%2e%2e/evil\0"])(
    "goshs CVE-2026-66063: the name %j of a file in a form makes none but in the form's folder",
    async (filename) => {
      const { base, root } = await createDisk();
      const storage = createDiskStorage({ root, durability: "rename" });
      const test = await createTestService({ storage, files: { "/alice/f/": "" } });
      const form: FormEntry[] = [
        ["action", "upload-file"],
        ["upload-file", filename, "x"],
      ];
      const answer = await sendFormForJson(test, "/home/f/", form);
      expect(answer.status).toBeLessThan(500);
      // Browsers that send a path mean its last segment (CONTRACT 2.2).
      const made = (await walk(test)).filter((path) => !["/alice", "/alice/f"].includes(path));
      expect([[], ["/alice/f/evil"]]).toContainEqual(made);
      expect(await readdir(base)).toEqual(["root"]);
    },
  );
});
