import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAccountResolver, toAccount } from "../../../src/account/account.ts";
import { toStoragePath } from "../../../src/account/path.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import { isMemberName } from "../../../src/http/path-segment.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the configuration spells them this way.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

function groupsOf(groups: Readonly<Record<string, GroupSettings>>): ReadonlyMap<string, GroupSettings> {
  return new Map(Object.entries(groups));
}

function homeOf(name: string, settings: AccountSettings = {}, groups: Record<string, GroupSettings> = {}): string {
  return toStoragePath(toAccount(name, settings, groupsOf(groups)).home);
}

describe("an account's home", () => {
  it.each([
    [undefined, "alice", "/alice"],
    ["/", "alice", "/"],
    ["/srv/data", "alice", "/srv/data"],
    [`/homes/${USER}`, "alice", "/homes/alice"],
    [`/homes/${USER}/files`, "alice", "/homes/alice/files"],
    [`/homes/x-${USER}-${USER}`, "alice", "/homes/x-alice-alice"],
    [undefined, "a/b", "/a%2Fb"],
    [undefined, 'a\\b:c*d?e"f<g>h|i%j', "/a%5Cb%3Ac%2Ad%3Fe%22f%3Cg%3Eh%7Ci%25j"],
    [undefined, "../etc", "/..%2Fetc"],
    [undefined, "a\nb\u007f\u0085", "/a%0Ab%7F%C2%85"],
    [undefined, "zo\u00eb $& $1", "/zo\u00eb $& $1"],
    [undefined, USER, `/${USER}`],
    [undefined, "[a-z]!", "/[a-z]!"],
  ])("of the path %j and the name %j is %s (2.4, CONTRACT 7.1)", (home_folder_path, name, home) => {
    expect(homeOf(name, home_folder_path === undefined ? {} : { home_folder_path })).toBe(home);
  });

  it.each([
    ["/", "/alice"],
    ["/homes", "/homes/alice"],
    [`/homes/${USER}`, "/homes/alice"],
    [`/homes/${USER}/files`, "/homes/alice/files"],
    [`/homes/x${USER}`, "/homes/xalice"],
    [`${SHARED}/`, "/"],
    [`${SHARED}/everybody`, "/everybody"],
    [`${SHARED}/by-name/${USER}`, "/by-name/alice"],
    [`/a/${SHARED}`, `/a/${SHARED}/alice`],
  ])("of the group's path %j is %s (CONTRACT 7.1)", (home_folder_path, home) => {
    expect(homeOf("alice", { group: "staff" }, { staff: { home_folder_path } })).toBe(home);
    expect(homeOf("alice", {}, { DEFAULT_GROUP: { home_folder_path } })).toBe(home);
  });

  it.each([".", "..", "", "\ud800"])("is none for the name %j, wherever it would be (CONTRACT 7.1)", (name) => {
    for (const home_folder_path of [`/homes/${USER}`, "/elsewhere", `/x${USER}`]) {
      const refusal = new TypeError("username: cannot be the name of a folder");
      expect(() => homeOf(name, { home_folder_path })).toThrow(refusal);
    }
  });

  it("is one of its own for every name, and one segment (SECURITY 4)", () => {
    const name = fc
      .string({
        unit: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(..."/\\%25:*.")),
      })
      .filter((text) => text !== "" && !/\p{Cs}/u.test(text) && !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(name, name, (one, other) => {
        const [first, second] = [homeOf(one), homeOf(other)];
        expect(isMemberName(first.slice(1))).toBe(true);
        expect(first === second).toBe(one === other);
      }),
    );
  });

  it.each<[string, AccountSettings]>([
    ["home_folder_path", { home_folder_path: "/a/../b" }],
    ["home_folder_path", { home_folder_path: "/a\\b" }],
    ["home_folder_structure", { home_folder_structure: ["in", "../out"] }],
    ["home_folder_structure", { home_folder_structure: ["in/../../out"] }],
    ["home_folder_structure", { home_folder_structure: ["/.."] }],
    ["virtual_folders", { virtual_folders: [["/a/..", "/b"]] }],
    ["virtual_folders", { virtual_folders: [["/a", "/b/../.."]] }],
    ["permissions", { permissions: [["allow-all"]] }],
    ["permissions", { permissions: [[], ["m/(/", "allow-read"]] }],
    ["group", { group: "nobody-knows" }],
    ["group", { group: "__proto__" }],
  ])("and the rest are refused, naming the member %s: %j", (member, settings) => {
    expect(() => toAccount("alice", settings, new Map())).toThrow(new RegExp(`^${member}(?:\\[\\d\\])?: `));
  });

  it.each<[string, AccountSettings]>([
    ["home_folder_structure", { home_folder_structure: ["in", "__svc__/in"] }],
    ["virtual_folders", { virtual_folders: [["/__svc__", "/b"]] }],
  ])("nor is the reserved name in %s, which says so: %j (CONTRACT 2.3)", (member, settings) => {
    const refusal = new TypeError(`${member}: __svc__ is reserved`);
    expect(() => toAccount("alice", settings, new Map())).toThrow(refusal);
  });

  it("and an expression is refused with all the reasons behind it, for the log", () => {
    const reasons: unknown[] = [];
    try {
      toAccount("alice", { permissions: [[], ["m/(/", "allow-read"]] }, new Map());
    } catch (error) {
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) reasons.push(cause.message);
    }
    expect(reasons).toEqual([
      "permissions[1]: the expression is not valid",
      "permissions[1]: the expression is not valid",
      "the expression is not valid",
      expect.stringContaining(")"),
    ]);
  });
});

describe("what an account leaves out", () => {
  const settings: GroupSettings = {
    home_folder_path: "/homes",
    create_home_folder: false,
    create_home_folder_owner: "www",
    create_home_folder_group: "staff",
    email: "a@b.example",
    home_folder_structure: ["in"],
    virtual_folders: [["/pub", "/data/pub"]],
    permissions: [["allow-read"]],
    allow_own_password_change: false,
  };

  it("is in the end the defaults (2.4)", () => {
    const { permissions, ...account } = toAccount("alice", {}, new Map());
    expect(account).toStrictEqual({
      name: "alice",
      uuid: "alice",
      email: "",
      group: "DEFAULT_GROUP",
      home: ["alice"],
      createHome: true,
      owner: {},
      structure: [],
      virtualFolders: [],
      quota: { path: "/alice" },
      allowPasswordChange: true,
      allowLinks: true,
      requireLinkPassword: false,
      allowOwnKeys: true,
      requireKeyForBasic: false,
    });
    expect(permissions.grantsEverywhere("delete-folder")).toBe(true);
  });

  it.each([
    ["its group", { group: "staff" }, { staff: settings }],
    ["the default group", {}, { DEFAULT_GROUP: settings }],
    ["the default group, where its own says nothing", { group: "staff" }, { staff: {}, DEFAULT_GROUP: settings }],
  ])("comes from %s (CONTRACT 7.1)", (_case, own, groups) => {
    const { permissions, ...account } = toAccount("alice", own, groupsOf(groups));
    expect(account).toMatchObject({
      uuid: "alice",
      email: "a@b.example",
      home: ["homes", "alice"],
      createHome: false,
      owner: { user: "www", group: "staff" },
      structure: [["in"]],
      virtualFolders: [{ virtual: ["pub"], real: ["data", "pub"] }],
      allowPasswordChange: false,
    });
    expect([permissions.allows("/a", "read"), permissions.allows("/a", "write")]).toEqual([true, false]);
  });

  it("comes from its group before the default group, member by member (CONTRACT 7.1)", () => {
    const groups = groupsOf({
      staff: { email: "staff", permissions: [["allow-list"]] },
      DEFAULT_GROUP: { email: "default", create_home_folder: false, permissions: [["allow-read"]] },
    });
    const account = toAccount("alice", { group: "staff" }, groups);
    expect([account.email, account.createHome]).toEqual(["staff", false]);
    expect([account.permissions.allows("/", "list"), account.permissions.allows("/", "read")]).toEqual([true, false]);
  });

  it.each([
    ["its own rules before all", [["allow-write"]], [["allow-list"]], "write"],
    ["the group's for an empty list", [], [["allow-list"]], "list"],
    ["the group's for none", undefined, [["allow-list"]], "list"],
    ["the default group's for none anywhere", undefined, undefined, "read"],
    ["the default group's where the group's are empty", [], [], "read"],
  ] as const)("takes as permissions %s, never a mixture (CONTRACT 7.4)", (_case, own, group, granted) => {
    const toSettings = (permissions?: readonly (readonly string[])[]) => (permissions ? { permissions } : {});
    const groups = groupsOf({ staff: toSettings(group), DEFAULT_GROUP: { permissions: [["allow-read"]] } });
    const { permissions } = toAccount("alice", { group: "staff", ...toSettings(own) }, groups);
    for (const operation of ["read", "list", "write"] as const) {
      expect(permissions.allows("/a", operation)).toBe(operation === granted);
    }
  });

  it("is nothing where its general permissions are an empty list: that grants nothing", () => {
    const { permissions } = toAccount("alice", { permissions: [[]] }, new Map());
    expect(permissions.allows("/", "read")).toBe(false);
  });

  it("may be that the account may not change its password, which an account cannot say itself (CONTRACT 7.1)", () => {
    const groups = groupsOf({
      staff: { allow_own_password_change: true },
      DEFAULT_GROUP: { allow_own_password_change: false },
    });
    expect(toAccount("alice", { group: "staff" }, groups).allowPasswordChange).toBe(true);
    expect(toAccount("alice", {}, groups).allowPasswordChange).toBe(false);
  });
});

describe("the resolver of accounts", () => {
  it("compiles an account once for as long as its settings are the same", () => {
    const resolve = createAccountResolver(new Map());
    const first = resolve("alice", { email: "a" });
    expect(resolve("alice", { email: "a" })).toBe(first);
    expect(resolve("alice", { email: "b" })).not.toBe(first);
    expect(resolve("bob", { email: "a" }).name).toBe("bob");
  });

  it("keeps no more than 1,000 accounts", () => {
    for (const [others, isKept] of [
      [999, true],
      [1000, false],
    ] as const) {
      const resolve = createAccountResolver(new Map());
      const first = resolve("first", {});
      for (let index = 0; index < others; index++) resolve(`user-${index}`, {});
      expect(resolve("first", {}) === first).toBe(isKept);
    }
  });

  it.each([
    [undefined, undefined, undefined],
    [undefined, 0, undefined],
    [0, 0, undefined],
    [10, undefined, 10],
    [10, 0, 10],
    [0, 20, 20],
    [undefined, 20, 20],
    [10, 20, 10],
    [30, 20, 20],
  ])("gives an account of the limit %j, by the service's of %j, the smaller one: %j bytes", (own, limit, least) => {
    const resolve = createAccountResolver(new Map(), limit);
    const account = resolve("alice", { email: "a", ...(own !== undefined && { max_file_bytes: own }) });
    expect(account).toMatchObject({ name: "alice", email: "a", home: ["alice"] });
    expect(account.maxFileBytes).toBe(least);
  });

  it("refuses what cannot be used, with the reason for the log alone (CONTRACT 7.3)", () => {
    const resolve = createAccountResolver(new Map());
    try {
      resolve("alice", { group: "secret" });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ failure: "denied", message: "The account cannot be used." });
      expect((error as Error).cause).toMatchObject({ message: "group: is not a configured group" });
    }
  });
});
