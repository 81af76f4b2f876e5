import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { run } from "../../../../src/cli/program.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it so.
const HOME = "/home/${USER}/*";

let folder: string;
const paths: Record<string, string> = {};

const files = {
  config: {
    groups: { staff: { permissions: [["allow-list"], [HOME, "allow-read", "allow-write"]] } },
    authentication: [
      { type: "accounts", accounts: [{ username: "alice", password: "secret", group: "staff" }] },
      { type: "accounts", file: "accounts.json" },
    ],
  },
  accounts: {
    accounts: [
      { username: "alice", password: "secret", permissions: [["deny-full-control"]] },
      { username: "bob", password: "secret", permissions: [["allow-read"], ["/secret*", "deny-full-control"]] },
    ],
  },
  settings: { permissions: [[], ["*.csv", "allow-read"]] },
  grouped: { group: "staff" },
  broken: { permissions: [[], ["m/(/", "allow-read"]] },
  wrong: { permision: [] },
  unfit: { authentication: [{ type: "accounts", file: "wrong.json" }] },
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-explain-"));
  for (const [name, content] of Object.entries(files)) {
    paths[name] = join(folder, `${name}.json`);
    await writeFile(paths[name], JSON.stringify(content));
  }
});

afterAll(() => rm(folder, { recursive: true }));

/** Runs the command in this process. Names of the files above are replaced by their paths. */
async function explain(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const printed = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  try {
    const status = await run(["explain", ...args.map((arg) => paths[arg] ?? arg)]);
    return { status, ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe("fileferry explain", () => {
  it("ends with 0 and says which rule matched and which value decided", async () => {
    expect(await explain("--config", "config", "--account", "alice", "write", "/home/alice/a.csv")).toEqual({
      status: 0,
      stdout: `write /home/alice/a.csv: granted\nrule: ${HOME}\ndecided by: allow-write\n`,
      stderr: "",
    });
  });

  it("ends with 1 and says what is missing", async () => {
    expect(await explain("--config", "config", "--account", "alice", "delete-file", "/a")).toEqual({
      status: 1,
      stdout:
        "delete-file /a: not granted\nrule: none matches, so the general permissions apply\nmissing: one of allow-full-control, allow-delete-file\n",
      stderr: "",
    });
  });

  it("finds the accounts of an accounts file, after those of the configuration", async () => {
    const { status, stdout } = await explain("--config", "config", "--account", "bob", "read", "/Secrets/a");
    expect([status, stdout]).toEqual([
      1,
      "read /Secrets/a: not granted\nrule: /secret*\ndecided by: deny-full-control\n",
    ]);
    expect((await explain("--config", "config", "--account", "bob", "read", "/a/")).status).toBe(0);
  });

  it("takes a file of settings in place of an account, with the groups of a configuration or none", async () => {
    expect((await explain("--settings", "settings", "read", "/a.csv")).status).toBe(0);
    expect((await explain("--settings", "settings", "read", "/a.txt")).status).toBe(1);
    const grouped = ["--settings", "grouped", "--config", "config"];
    expect((await explain(...grouped, "read", "/home/user/a")).status).toBe(0);
    expect((await explain(...grouped, "--account", "carol", "read", "/home/carol/a")).status).toBe(0);
    expect((await explain(...grouped, "--account", "carol", "read", "/home/user/a")).status).toBe(1);
  });

  it.each<[string, readonly string[], RegExp]>([
    ["no path", ["--settings", "settings", "read"], /missing required argument 'path'/],
    [
      "an unknown operation",
      ["--settings", "settings", "delete", "/a"],
      /^error: the operation must be one of read, list,/,
    ],
    ["a path that is none", ["--settings", "settings", "read", "a/../b"], /^error: Not a canonical path/],
    ["no account", ["--config", "config", "read", "/a"], /^error: explain needs --account with --config\n$/],
    [
      "neither a configuration nor settings",
      ["--account", "a", "read", "/"],
      /^error: explain needs --config or --settings\n$/,
    ],
    [
      "an unknown account",
      ["--config", "config", "--account", "eve", "read", "/"],
      /config\.json: has no account with this name\n$/,
    ],
    [
      "a missing file",
      ["--settings", "/nowhere.json", "read", "/"],
      /^\/nowhere\.json: cannot be read: does not exist\n$/,
    ],
    ["settings that are none", ["--settings", "wrong", "read", "/"], /wrong\.json: permision: unknown key\n$/],
    [
      "an invalid expression",
      ["--settings", "broken", "read", "/"],
      /^error: permissions\[1\]: the expression is not valid\n$/,
    ],
    ["an unknown group", ["--settings", "grouped", "read", "/"], /^error: group: is not a configured group\n$/],
    [
      "a broken accounts file",
      ["--config", "unfit", "--account", "eve", "read", "/"],
      /unfit\.json: authentication\[0\]\.file: \S+wrong\.json: permision: unknown key\n$/,
    ],
  ])("ends with 2 and a line that says why for %s", async (_case, args, message) => {
    const { status, stdout, stderr } = await explain(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});
