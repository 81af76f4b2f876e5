import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { type Answer, basic, createTestService, type TestService } from "../../support/service.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how the configuration spells them.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

const CANARY = "the canary sings";

let base: string;
let root: string;

/** A storage's root beside a canary, with another account's home in it that has one too. */
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-traversal-"));
  root = join(base, "root");
  for (const folder of ["root/homes/bob", "root/homes/alice/f", "root/data/pub/sub", "root/data/pubx", "outside"]) {
    await mkdir(join(base, folder), { recursive: true });
  }
  for (const place of ["", "outside", "root", "root/homes", "root/homes/bob", "root/data", "root/data/pubx"]) {
    await writeFile(join(base, place, "canary.txt"), CANARY);
  }
  await symlink(join(base, "outside"), join(root, "homes/alice/link"));
  await symlink(join(base, "outside"), join(root, "data/pub/link"));
});

afterEach(() => rm(base, { recursive: true }));

/** Everything but what the account `alice` owns. */
async function snapshot(): Promise<readonly string[]> {
  const all = (await readdir(base, { recursive: true })).filter(
    (path) => !/^root\/(?:homes\/alice|data\/pub)(?:\/|$)/.test(path),
  );
  const contents = all.map(
    async (path) => `${path}: ${path.endsWith(".txt") ? await readFile(join(base, path), "utf8") : ""}`,
  );
  return (await Promise.all(contents)).sort();
}

async function createService(
  authentication: Authenticator,
  groups: Record<string, GroupSettings> = {},
): Promise<TestService> {
  const service = await createTestService({
    authentication,
    groups,
    storage: createDiskStorage({ root, durability: "rename" }),
  });
  await rm(join(root, "alice"), { recursive: true });
  return service;
}

function accountsOf(...accounts: readonly ({ readonly username: string } & AccountSettings)[]): Authenticator {
  return createAccountsAuthenticator({ accounts: accounts.map((account) => ({ password: "secret", ...account })) });
}

/** Names that lead out of the folder if a step decodes, folds, cuts or joins once too often. */
const NAMES: readonly string[] = [
  "..",
  ".",
  "../bob",
  "../../outside",
  "../../../outside",
  "/outside",
  "..\\outside",
  "%2e%2e",
  "%2e%2e%2fbob",
  "..%2fbob",
  "..%252fbob",
  "%252e%252e",
  "..;",
  ".. ",
  "...",
  "\uff0e\uff0e",
  "..\u2215bob",
  "..\u2044bob",
  "\u2025",
  "bob/",
  "./bob",
  "f/../../bob",
  "link",
  "link/..",
  "C:",
  "C:\\",
  "~",
  "~bob",
  "$HOME",
  USER,
  SHARED,
  "__proto__",
];

describe("names in URLs and commands (CONTRACT 2.1, 2.2, SECURITY 1, 3)", () => {
  const settings = {
    username: "alice",
    home_folder_path: "/homes/alice",
    virtual_folders: [["/pub", "/data/pub"]] as const,
  };

  it.each(NAMES)("%j leads nowhere else, raw or encoded, in the home and in a virtual folder", async (name) => {
    const before = await snapshot();
    const { call } = await createService(accountsOf(settings));
    const encoded = encodeURIComponent(name);
    const all = [...new TextEncoder().encode(name)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    const raw = /^[!-~]*$/.test(name) ? [name] : [];
    for (const folder of ["", "pub/", "pub/sub/", "f/"]) {
      for (const text of [encoded, all, ...raw]) {
        const target = `/home/${folder}${text}`;
        await expectNothing(call, "GET", `${target}/canary.txt`);
        await expectNothing(call, "GET", target);
        await expectNothing(call, "GET", `${target}/`);
        await expectNothing(call, "PUT", `${target}/canary.txt`, "overwritten");
        await expectNothing(call, "PUT", `${target}/made/`);
        await expectNothing(call, "DELETE", `${target}/canary.txt`);
        await expectNothing(call, "DELETE", `${target}/`);
      }
      const commands = ["delete", "create-folder", "create-folder-if-missing"].flatMap((command) =>
        [name, `${name}/made`, `${name}/canary.txt`].map((target) => ({ command, target })),
      );
      await call("POST", `/home/${folder}`, {
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ commands }),
      });
    }
    expect(await snapshot()).toEqual(before);
  });
});

describe("user names in templates (CONTRACT 7.1, SECURITY 4)", () => {
  it.each(NAMES.filter((name) => name !== "."))("the name %j gets a folder of its own or none", async (name) => {
    const templates: readonly AccountSettings[] = [
      {},
      { home_folder_path: `/homes/${USER}` },
      { home_folder_path: `/homes/${USER}/files` },
      { home_folder_path: "/homes/alice", home_folder_structure: [USER, `in/${USER}/new`] },
      { home_folder_path: "/homes/alice", virtual_folders: [[`/${USER}`, `/data/pub/${USER}`]] },
      { home_folder_path: "/homes/alice", virtual_folders: [["/mine", `/data/pub/${USER}`]] },
    ];
    const made: string[] = [];
    for (const settings of templates) {
      const { call } = await createService(accountsOf({ username: name, ...settings }));
      const headers = { authorization: basic(name, "secret") };
      for (const target of ["canary.txt", "mine/canary.txt", `${encodeURIComponent(name)}/canary.txt`]) {
        const read = await call("GET", `/home/${target}`, { headers });
        expect(read.text).not.toContain(CANARY);
        made.push(`${(await call("PUT", `/home/${target}`, { headers, body: "overwritten" })).status}`);
      }
      if (name === "..") expect(new Set(made)).toEqual(new Set(["401", "400"]));
    }
    for (const path of (await snapshot()).filter((line) => line.includes("canary.txt"))) {
      const isOwn =
        path.startsWith(`root/${encodedName(name)}/`) || path.startsWith(`root/homes/${encodedName(name)}/`);
      if (!isOwn) expect(path).toContain(CANARY);
    }
    expect((await readdir(base)).sort()).toEqual(["canary.txt", "outside", "root"]);
    expect(await readdir(join(base, "outside"))).toEqual(["canary.txt"]);
  });

  it("bob%, alice/../bob and the like do not share bob's home with him (SECURITY 4)", async () => {
    const names = ["b%6fb", "alice/../bob", "bob/", "/bob", "./bob", "bob\\", "bob%00", "BOB", "bob "];
    const accounts = names.map((username) => ({ username, home_folder_path: `/homes/${USER}` }));
    const { call } = await createService(accountsOf(...accounts));
    for (const name of names) {
      const headers = { authorization: basic(name, "secret") };
      expect((await call("GET", "/home/canary.txt", { headers })).status).toBe(404);
      expect((await call("PUT", "/home/canary.txt", { headers, body: "overwritten" })).status).toBe(201);
    }
    expect(await readFile(join(root, "homes/bob/canary.txt"), "utf8")).toBe(CANARY);
  });

  it("the words of a template that are in a name are not filled in again (CONTRACT 7.1)", async () => {
    const groups = { DEFAULT_GROUP: { home_folder_path: "/homes" } };
    const { call } = await createService(accountsOf({ username: SHARED }, { username: USER }), groups);
    for (const name of [SHARED, USER]) {
      const headers = { authorization: basic(name, "secret") };
      expect((await call("PUT", "/home/own.txt", { headers, body: name })).status).toBe(201);
      expect(await readFile(join(root, "homes", name, "own.txt"), "utf8")).toBe(name);
    }
  });
});

describe("settings that lead out (CONTRACT 7.2, 7.3)", () => {
  const paths: readonly string[] = [
    "/..",
    "/../outside",
    "/homes/../../outside",
    "/homes/./bob",
    "///outside",
    "/a\\..\\b",
    "/a\u0000",
  ];

  it.each(
    paths.flatMap((path) => [
      { home_folder_path: path },
      { home_folder_path: path.slice(1) },
      { home_folder_path: "/homes/alice", home_folder_structure: [path] },
      { home_folder_path: "/homes/alice", home_folder_structure: [path.slice(1)] },
      { home_folder_path: "/homes/alice", virtual_folders: [["/v", path]] },
      { home_folder_path: "/homes/alice", virtual_folders: [[path, "/data/pub"]] },
    ]),
  )("refuse the login, also where an authenticator lets them pass: %j", async (settings) => {
    const before = await snapshot();
    const careless: Authenticator = {
      name: "careless",
      authenticate: async () => ({ outcome: "accepted", account: settings as AccountSettings }),
    };
    const { call } = await createService(careless);
    for (const target of ["/home/", "/home/canary.txt", "/home/v/canary.txt", "/home/v/"]) {
      const answer = await call("GET", target, { variant: "json" });
      expect([401, 403]).toContain(answer.status);
    }
    expect(await snapshot()).toEqual(before);
  });

  it("lead no further than to a link: homes, structures and virtual folders behind one are none (CONTRACT 2.8)", async () => {
    const before = await snapshot();
    const all: readonly AccountSettings[] = [
      { home_folder_path: "/homes/alice/link" },
      { home_folder_path: "/homes/alice/link/made" },
      { home_folder_path: "/homes/alice", home_folder_structure: ["link/made"] },
      { home_folder_path: "/homes/alice", virtual_folders: [["/v", "/data/pub/link"]] },
    ];
    for (const settings of all) {
      const { call } = await createService(accountsOf({ username: "alice", ...settings }));
      for (const prefix of ["/home/", "/home/v/", "/home/link/"]) {
        await expectNothing(call, "GET", `${prefix}canary.txt`);
        await expectNothing(call, "PUT", `${prefix}made.txt`, "made");
        await expectNothing(call, "PUT", `${prefix}made/`);
        await expectNothing(call, "DELETE", `${prefix}canary.txt`);
      }
    }
    expect(await snapshot()).toEqual(before);
  });
});

async function expectNothing(call: TestService["call"], method: string, target: string, body?: string): Promise<void> {
  const answer: Answer = await call(method, target, { body, variant: "json" });
  expect(answer.text).not.toContain(CANARY);
  expect(answer.status).toBeLessThan(500);
}

/** As CONTRACT 7.1 spells a name in a path. */
function encodedName(name: string): string {
  return name.replace(/[\\/:*?"<>|%]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
