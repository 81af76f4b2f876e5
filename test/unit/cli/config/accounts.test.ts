import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfigFile } from "../../../../src/cli/config/file.ts";
import { describeIssues } from "../../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../../src/cli/config/schema.ts";
import { failureOf } from "../../../../src/cli/failure.ts";
import { createFileService } from "../../../../src/service/service.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it so.
const USER = "${USER}";
const ALICE = { username: "alice", password: "secret" };
const EVERYTHING = {
  home_folder_path: `/homes/${USER}`,
  uuid: "u",
  email: "a@b.example",
  create_home_folder: true,
  create_home_folder_owner: "www",
  create_home_folder_group: "www",
  home_folder_structure: ["in", "/out/new"],
  virtual_folders: [["/pub", "/data/pub"]],
  permissions: [["allow-list"], ["/pub/*", "allow-read"], ["m/^/x/i", "allow-full-control"]],
};

function configOf(groups: unknown, ...accounts: unknown[]): object {
  return { groups, authentication: [{ type: "accounts", accounts }] };
}

function problemsOf(config: unknown): readonly string[] {
  const parsed = configFileSchema.safeParse(config);
  return parsed.success ? [] : describeIssues(parsed.error);
}

describe("groups and accounts in the configuration file (CONTRACT 10)", () => {
  it("take every member of the spec", () => {
    const groups = { staff: { ...EVERYTHING, allow_own_password_change: false }, DEFAULT_GROUP: {} };
    const config = configOf(groups, { ...ALICE, ...EVERYTHING, group: "staff" });
    expect(problemsOf(config)).toEqual([]);
    expect(configFileSchema.parse(config)).toEqual(config);
  });

  it.each<[string, unknown, string]>([
    ["a list", [], "groups: expected record, received array"],
    ["a member of later versions", { staff: { quota: 1 } }, "groups.staff.quota: unknown key"],
    ["a group in a group", { staff: { group: "x" } }, "groups.staff.group: unknown key"],
    [
      "a relative home",
      { staff: { home_folder_path: "x" } },
      "groups.staff.home_folder_path: must be an absolute path",
    ],
    [
      "a home with ..",
      { staff: { home_folder_path: "/a/.." } },
      "groups.staff.home_folder_path: must be an absolute path",
    ],
    ["a null", { staff: { email: null } }, "groups.staff.email: expected string, received null"],
    [
      "an unknown permission",
      { staff: { permissions: [["allow-all"]] } },
      "groups.staff.permissions[0][0]: is not a known permission",
    ],
    [
      "a rule without permissions",
      { staff: { permissions: [[], ["*"]] } },
      "groups.staff.permissions[1]: must be a path expression and",
    ],
    [
      "an invalid expression",
      { staff: { permissions: [[], ["/[a", "allow-read"]] } },
      "groups.staff.permissions[1]: the glob has a class",
    ],
    [
      "an invalid expression of the default group",
      { DEFAULT_GROUP: { permissions: [[], ["m/(/", "allow-read"]] } },
      "groups.DEFAULT_GROUP.permissions[1]: the expression is not valid",
    ],
    [
      "a virtual folder at the root",
      { staff: { virtual_folders: [["/", "/x"]] } },
      "groups.staff.virtual_folders[0][0]: must not be",
    ],
  ])("refuse groups with %s, and name the key path", (_case, groups, problem) => {
    const problems = problemsOf(configOf(groups, ALICE));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it.each<[string, object, string]>([
    ["an unknown group", { group: "stuff" }, "group: is not a configured group"],
    [
      "an invalid expression",
      { permissions: [[], ["*", "allow-read"], ["m/(/", "allow-read"]] },
      "permissions[2]: the expression is not valid",
    ],
    ["an unknown permission", { permissions: [["allow-all"]] }, "permissions[0][0]: is not a known permission"],
    [
      "a structure with ..",
      { home_folder_structure: ["in", "../x"] },
      "home_folder_structure[1]: must be a relative path",
    ],
    ["a virtual folder of one path", { virtual_folders: [["/pub"]] }, "virtual_folders[0]"],
    ["a name that can be no folder's", { username: ".." }, "username: cannot be the name of a folder"],
  ])("report an account that could never log in, for %s, with the key path", (_case, settings, problem) => {
    const problems = problemsOf(configOf({ staff: {} }, ALICE, { ...ALICE, username: "bob", ...settings }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`authentication[0].accounts[1].${problem}`);
  });

  it("report every such account", () => {
    const accounts = ["a", "b", "c"].map((username) => ({ ...ALICE, username, group: "gone" }));
    expect(problemsOf(configOf({}, ...accounts))).toHaveLength(3);
  });
});

describe("the accounts of an accounts file", () => {
  let folder: string;
  const errors: unknown[][] = [];
  const logger = { info() {}, warn() {}, error: (...error: unknown[]) => void errors.push(error) };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function start(accounts: readonly object[]): Promise<void> {
    const config = join(folder, "config.json");
    await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts }));
    const authentication = [{ type: "accounts", file: "accounts.json" }];
    await writeFile(config, JSON.stringify({ storage: { type: "memory" }, groups: { staff: {} }, authentication }));
    const { service } = await readConfigFile(config, () => logger);
    await createFileService(service).start();
  }

  it("may be in the groups of the configuration", async () => {
    await start([{ ...ALICE, group: "staff" }]);
  });

  it("that could never log in do not stop the start; the log says so, with their positions in the file", async () => {
    const dots = { ...ALICE, username: ".." };
    await start([ALICE, { ...ALICE, username: "bob", group: "gone" }, dots]);
    const problems = [
      "accounts[1].group: gone is not a configured group",
      "accounts[2].username: cannot be the name of a folder",
    ];
    const details = { file: join(folder, "accounts.json"), problems };
    expect(errors.splice(0)).toEqual([[details, "Accounts of the accounts file cannot log in."]]);
  });

  it("are named up to a number", async () => {
    await start(Array.from({ length: 103 }, (_, index) => ({ ...ALICE, username: `u${index}`, group: "gone" })));
    const [[details] = []] = errors.splice(0) as [{ problems: string[] }][];
    expect([details?.problems.length, details?.problems.at(-1)]).toEqual([101, "and 3 more"]);
  });

  it("stop the start if the file is not valid", async () => {
    const error = await start([{ ...ALICE, groups: "staff" }]).catch((thrown: unknown) => thrown);
    expect(failureOf(error)).toMatchObject({ exitStatus: 2 });
  });
});
