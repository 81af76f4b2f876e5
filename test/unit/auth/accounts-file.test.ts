import { execFileSync } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsFileAuthenticator } from "../../../src/auth/accounts-file-node.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { Logger } from "../../../src/contracts/logger.ts";

interface Line {
  readonly level: string;
  readonly details: Readonly<Record<string, unknown>>;
}

let folder: string;
let file: string;
let now: number;
let lines: Line[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
  file = join(folder, "accounts.json");
  now = 0;
  lines = [];
});
afterEach(() => rm(folder, { recursive: true }));

describe("start of the accounts file", () => {
  const cases: [string, string, RegExp][] = [
    ["invalid JSON", '{ "accounts": [{ "password": "top-secret" ', /accounts\.json: is not valid JSON/],
    ["invalid JSON after a secret", '{ "accounts": [{ "password": "top-secret" }], }', /is not valid JSON/],
    ["invalid UTF-8", '{ "accounts": [{ "username": "\xff", "password": "top-secret" }] }', /not valid JSON/],
    ["an empty file", "", /is not valid JSON/],
    ["another shape", "[]", /accounts\.json: .*object/],
    ["an unknown key", '{ "accounts": [], "acounts": [] }', /accounts\.json: acounts: /],
    ["no accounts", "{}", /accounts\.json: accounts: .*array/],
    ["a wrong type", '{ "accounts": [{ "username": "a", "password": true }] }', /: accounts\[0\]\.password: /],
    [
      "an unknown member",
      '{ "accounts": [{ "username": "a", "password": "top-secret", "x": 1 }] }',
      /: accounts\[0\]\.x: /,
    ],
  ];

  it.each(cases)("rejects with file, place and reason, never a password: %s", async (_name, text, message) => {
    await writeFile(file, text, "latin1");
    const error: unknown = await create()
      .start?.()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(message);
    expect(`${(error as Error).stack} ${(error as Error).cause}`).not.toContain("top-secret");
  });

  it("rejects when there is no file, and may be tried again", async () => {
    const authenticator = create();
    await expect(authenticator.start?.()).rejects.toThrow(/accounts\.json: ENOENT/);
    await write("alice", "one");
    await authenticator.start?.();
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
  });
});

describe("the accounts of a file", () => {
  it("are known at the first login, also without a start", async () => {
    await write("alice", "one");
    const authenticator = create();
    const outcomes = await Promise.all([1, 2, 3].map(() => outcome(authenticator, "alice", "one")));
    expect(outcomes).toEqual(["accepted", "accepted", "accepted"]);
    expect(await outcome(authenticator, "alice", "two")).toBe("rejected");
    expect(await outcome(authenticator, "carol", "one")).toBe("unknown");
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  it("follow the file, looking at most once a second", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    await write("alice", "second");
    now += 999;
    expect(await outcome(authenticator, "alice", "second")).toBe("rejected");
    now += 1;
    expect(await outcome(authenticator, "alice", "second")).toBe("accepted");
    expect(await outcome(authenticator, "alice", "one")).toBe("rejected");
  });

  it("follow a file of equal size that was renamed onto it", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    await writeFile(`${file}.new`, accountsText("alice", "two"));
    await rename(`${file}.new`, file);
    now += 1000;
    expect(await outcome(authenticator, "alice", "two")).toBe("accepted");
  });

  it("stay as they were while the file is broken, which is reported once", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    await writeFile(file, '{ "accounts": [{ "username": "alice", "password": "hidden" }');
    for (let round = 0; round < 3; round += 1) {
      now += 1000;
      expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
    }
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors).toHaveLength(1);
    expect(String(errors[0]?.details.error)).not.toContain("hidden");
    await write("alice", "two");
    now += 1000;
    expect(await outcome(authenticator, "alice", "two")).toBe("accepted");
  });

  it("stay as they were while the file is away, which is reported once", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    await rename(file, `${file}.away`);
    for (let round = 0; round < 3; round += 1) {
      now += 1000;
      expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
    }
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
    await rename(`${file}.away`, file);
    now += 1000;
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
  });

  it.skipIf(process.platform === "win32")(
    "stay as they were while a pipe is in the file's place, which holds nobody",
    async () => {
      await write("alice", "one");
      const authenticator = create();
      await authenticator.start?.();
      await rm(file);
      execFileSync("mkfifo", [file]);
      now += 1000;
      expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
      await expect(create().start?.()).rejects.toThrow(/accounts\.json: is not a regular file/);
      await rm(file);
      await write("alice", "two");
      now += 1000;
      expect(await outcome(authenticator, "alice", "two")).toBe("accepted");
    },
  );

  it("are read once for many logins at the same time", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    await write("alice", "second");
    now += 1000;
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(authenticator, "alice", "second")));
    expect(new Set(outcomes)).toEqual(new Set(["accepted"]));
    expect(lines.filter(({ level }) => level === "info")).toHaveLength(2);
  });
});

function create(): Authenticator {
  const at = (level: string): Logger["info"] => {
    return (details) => void lines.push({ level, details });
  };
  const logger = { info: at("info"), warn: at("warn"), error: at("error") };
  return createAccountsFileAuthenticator({ file, logger, clock: () => now });
}

function write(username: string, password: string): Promise<void> {
  return writeFile(file, accountsText(username, password));
}

function accountsText(username: string, password: string): string {
  return JSON.stringify({ accounts: [{ username, password }] });
}

async function outcome(authenticator: Authenticator, username: string, content: string): Promise<string> {
  return (await authenticator.authenticate({ type: "password", username, content })).outcome;
}
