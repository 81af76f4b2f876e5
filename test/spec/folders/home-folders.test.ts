import { execFileSync } from "node:child_process";
import { access, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { type Answer, createTestService, type TestService } from "../../support/service.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how the configuration spells them.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

/** Another account of this system than the tests' own: only root may give it a folder. */
const OWNER = "nobody";
const GROUP = execFileSync("id", ["-gn", OWNER], { encoding: "utf8" }).trim();
const isRoot = process.getuid?.() === 0;

let base: string;
let root: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-home-"));
  root = join(base, "root");
  await mkdir(root);
});

afterEach(() => rm(base, { recursive: true }));

async function createService(
  settings: AccountSettings,
  groups: Record<string, GroupSettings> = {},
): Promise<TestService> {
  const accounts = [{ username: "alice", password: "secret", ...settings }];
  const storage = createDiskStorage({ root, durability: "rename" });
  const options = { authentication: createAccountsAuthenticator({ accounts }), groups, storage };
  const service = await createTestService(options);
  // The support code has made a home already.
  await storage.remove("/alice");
  return service;
}

/** The four ways in: each makes the home ready, or is refused. */
function logIn({ call }: TestService): Promise<Answer> {
  const body = JSON.stringify({ username: "alice", password: "secret" });
  const headers = { "content-type": "application/json" };
  return call("POST", "/__svc__/login", { as: null, variant: "json", headers, body });
}

async function expectRefused(service: TestService): Promise<void> {
  for (const answer of [
    await logIn(service),
    await service.call("GET", "/home/", { variant: "json" }),
    await service.call("PUT", "/home/a", { variant: "json", body: "x" }),
  ]) {
    expect(answer.status).toBe(403);
    expect(answer.json()).toEqual({ errors: [{ message: "The account cannot be used." }] });
    expect(answer.header("set-cookie")).toBeNull();
  }
}

describe("a home folder", () => {
  it.each<readonly [string, AccountSettings, Record<string, GroupSettings>, string]>([
    ["the default", {}, {}, "alice"],
    ["its own path", { home_folder_path: "/a/b/c" }, {}, "a/b/c"],
    ["its own path with its name", { home_folder_path: `/a/${USER}/c` }, {}, "a/alice/c"],
    ["its group's path", { group: "staff" }, { staff: { home_folder_path: "/staff" } }, "staff/alice"],
    ["the default group's path", {}, { DEFAULT_GROUP: { home_folder_path: `/x/${USER}/y` } }, "x/alice/y"],
    [
      "its group's shared path",
      { group: "staff" },
      { staff: { home_folder_path: `${SHARED}/all/of/us` } },
      "all/of/us",
    ],
  ])("is made at login with its parents: %s (2.4, CONTRACT 7.1)", async (_case, settings, groups, path) => {
    const service = await createService(settings, groups);
    expect((await logIn(service)).status).toBe(200);
    expect((await stat(join(root, path))).isDirectory()).toBe(true);
    expect((await service.call("PUT", "/home/a.txt", { body: "x" })).status).toBe(201);
    await access(join(root, path, "a.txt"));
  });

  it("is made by the first request with Basic credentials too, which needs no login (5.1.2)", async () => {
    const service = await createService({ home_folder_path: "/a/b" });
    expect((await service.call("PUT", "/home/a.txt", { body: "x" })).status).toBe(201);
    await access(join(root, "a/b/a.txt"));
  });

  it("that is missing and not to be made refuses the login (2.4, CONTRACT 7.3)", async () => {
    await expectRefused(await createService({ create_home_folder: false }));
    await expectRefused(await createService({}, { DEFAULT_GROUP: { create_home_folder: false } }));
    expect(await readdir(root)).toEqual([]);
  });

  it("that is there is no matter of create_home_folder (2.4)", async () => {
    const service = await createService({ create_home_folder: false, create_home_folder_owner: "nobody-knows" });
    await mkdir(join(root, "alice"));
    expect((await logIn(service)).status).toBe(200);
  });

  it.each([[{}], [{ create_home_folder: false }]])(
    "that is a file refuses the login, with %j (CONTRACT 7.3)",
    async (settings) => {
      const service = await createService(settings);
      await writeFile(join(root, "alice"), "a file");
      await expectRefused(service);
    },
  );

  it.each([
    ["it", "alice", {}],
    ["a parent of it", "homes", { home_folder_path: "/homes/alice" }],
    ["it, though none is to be made", "alice", { create_home_folder: false }],
  ])(
    "refuses the login where %s is a link, and nothing is made behind it (CONTRACT 2.8, 7.3)",
    async (_case, name, settings) => {
      const service = await createService(settings);
      await mkdir(join(base, "outside"));
      await symlink(join(base, "outside"), join(root, name));
      await expectRefused(service);
      expect(await readdir(join(base, "outside"))).toEqual([]);
    },
  );
});

describe("the owner of a new home folder", () => {
  it("is the account and the group of the operating system that are named (2.4)", async ({ skip }) => {
    skip(!isRoot, "Only root may give a folder away.");
    const { uid, gid } = await statOf(OWNER);
    const settings = { home_folder_path: "/a/b", create_home_folder_owner: OWNER, create_home_folder_group: GROUP };
    const service = await createService({ ...settings, home_folder_structure: ["in"] });
    expect((await logIn(service)).status).toBe(200);
    expect(await stat(join(root, "a/b"))).toMatchObject({ uid, gid });
    expect(await stat(join(root, "a"))).toMatchObject({ uid: 0 });
    expect(await stat(join(root, "a/b/in"))).toMatchObject({ uid: 0 });
  });

  it("may be the account or the group alone, and a number (2.4)", async ({ skip }) => {
    skip(!isRoot, "Only root may give a folder away.");
    const { uid, gid } = await statOf(OWNER);
    await logIn(await createService({ home_folder_path: "/a", create_home_folder_owner: OWNER }));
    expect(await stat(join(root, "a"))).toMatchObject({ uid, gid: process.getgid?.() });
    await logIn(await createService({ home_folder_path: "/b", create_home_folder_group: GROUP }));
    expect(await stat(join(root, "b"))).toMatchObject({ uid: 0, gid });
    await logIn(await createService({ home_folder_path: "/c", create_home_folder_owner: "1234" }));
    expect(await stat(join(root, "c"))).toMatchObject({ uid: 1234 });
  });

  it.each<AccountSettings>([
    { create_home_folder_owner: "nobody-knows-whom" },
    { create_home_folder_group: "nobody-knows-whom" },
    { create_home_folder_owner: "root", create_home_folder_group: "nobody-knows-whom" },
    { create_home_folder_owner: "$(touch x)" },
    { create_home_folder_owner: "--version" },
    { create_home_folder_group: "-h" },
    { create_home_folder_owner: "4294967295" },
  ])("that the system does not know refuses the login, and nothing is made: %j (CONTRACT 7.3)", async (owner) => {
    await expectRefused(await createService({ home_folder_path: "/a/b/c", ...owner }));
    expect(await readdir(root)).toEqual([]);
  });

  async function statOf(name: string): Promise<{ uid: number; gid: number }> {
    const ask = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
    return { uid: ask("-u"), gid: ask("-g") };
  }
});

describe("the structure of a home folder", () => {
  it("is made in a new home, parents included, a leading / dropped (2.4, CONTRACT 7.3)", async () => {
    const structure = ["in", "/out/2018/old", "out/new", `for-${USER}`];
    const service = await createService({ home_folder_structure: structure });
    expect((await logIn(service)).status).toBe(200);
    const made = await readdir(join(root, "alice"), { recursive: true });
    expect(made.sort()).toEqual(["for-alice", "in", "out", "out/2018", "out/2018/old", "out/new"]);
  });

  it("is made in a home that is there, and leaves what is in it (CONTRACT 7.3)", async () => {
    const service = await createService({ create_home_folder: false, home_folder_structure: ["in/new", "out"] });
    await mkdir(join(root, "alice/in"), { recursive: true });
    await writeFile(join(root, "alice/in/kept"), "kept");
    expect((await logIn(service)).status).toBe(200);
    expect((await readdir(join(root, "alice"), { recursive: true })).sort()).toEqual([
      "in",
      "in/kept",
      "in/new",
      "out",
    ]);
  });

  it("refuses the login where a file or a link is in its place, and leads nowhere (CONTRACT 7.3)", async () => {
    const service = await createService({ home_folder_structure: ["in/new"] });
    await mkdir(join(root, "alice"));
    await writeFile(join(root, "alice/in"), "a file");
    await expectRefused(service);
    await rm(join(root, "alice/in"));
    await mkdir(join(base, "outside"));
    await symlink(join(base, "outside"), join(root, "alice/in"));
    await expectRefused(service);
    expect(await readdir(join(base, "outside"))).toEqual([]);
  });

  it("with .. is an error, wherever it comes from (CONTRACT 7.3)", async () => {
    for (const path of ["..", "../out", "in/../../out", "/../out", "./in", "in//out", "in\\out", ""]) {
      const accounts = [{ username: "alice", password: "secret", home_folder_structure: [path] }];
      expect(() => createAccountsAuthenticator({ accounts })).toThrow(/^accounts\[0\]\.home_folder_structure\[0\]: /);
      const authentication = {
        name: "careless",
        authenticate: async () => ({ outcome: "accepted", account: { home_folder_structure: [path] } }) as const,
      };
      const storage = createDiskStorage({ root, durability: "rename" });
      const { call } = await createTestService({ authentication, storage });
      const { status } = await call("GET", "/home/", { variant: "json" });
      expect([401, 403]).toContain(status);
    }
    expect(await readdir(base)).toEqual(["root"]);
  });
});
