import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readlink, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type AccountsFileOptions,
  createAccountsFileAuthenticator,
} from "../../../../src/auth/accounts/accounts-file-node.ts";
import type { Authenticator } from "../../../../src/contracts/authenticator.ts";
import type { Logger } from "../../../../src/contracts/logger.ts";
import { OptionError } from "../../../../src/contracts/option-error.ts";

interface Line {
  readonly level: string;
  readonly message: string;
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
    [
      "invalid JSON",
      '{ "accounts": [{ "password": "top-secret" ',
      /accounts\.json: line 1, column 43: is not valid JSON/,
    ],
    [
      "invalid JSON after a secret",
      '{ "accounts": [{ "password": "top-secret" }], }',
      /accounts\.json: line 1, column 47: is not valid JSON: /,
    ],
    [
      "invalid UTF-8",
      '{ "accounts": [{ "username": "\xff", "password": "top-secret" }] }',
      /accounts\.json: is not valid UTF-8$/,
    ],
    ["an empty file", "", /accounts\.json: line 1, column 1: is not valid JSON: /],
    ["a key twice", '{ "accounts": [], "accounts": [] }', /accounts\.json: line 1, column 19: is the same key again$/],
    ["another shape", "[]", /accounts\.json: must be an object with the key "accounts"$/],
    ["an unknown key", '{ "accounts": [], "acounts": [] }', /accounts\.json: acounts: /],
    ["no accounts", "{}", /accounts\.json: accounts: is missing$/],
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
    await expect(authenticator.start?.()).rejects.toThrow(/accounts\.json: does not exist$/);
    await write("alice", "one");
    await authenticator.start?.();
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
  });

  it("is logged with the number of accounts, and belongs to the method named accounts", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    expect(lines[0]).toEqual({ level: "info", details: { file, accounts: 1 }, message: "The accounts file was read." });
    expect(authenticator.name).toBe("accounts");
  });

  it.each([-1, Number.NaN, null, "", "1"])("never comes where recheckSeconds is %j", (recheckSeconds) => {
    const error = new OptionError("recheckSeconds", "a number, 0 or more");
    expect(() => create({ recheckSeconds: recheckSeconds as number })).toThrow(error);
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

  it("fail a first login with the reason, where they cannot be read", async () => {
    await expect(outcome(create(), "alice", "one")).rejects.toThrow(`${file}: does not exist`);
    // Which ends no session either.
    await expect(create().isCurrent?.("alice", "1")).rejects.toThrow(`${file}: does not exist`);
  });

  it("follow the file, looking at most once a second", async () => {
    await write("alice", "one");
    const authenticator = create();
    now = 5000;
    await authenticator.start?.();
    await write("alice", "second");
    now += 999;
    expect(await outcome(authenticator, "alice", "second")).toBe("rejected");
    now += 1;
    expect(await outcome(authenticator, "alice", "second")).toBe("accepted");
    expect(await outcome(authenticator, "alice", "one")).toBe("rejected");
    now += 1000;
    expect(await outcome(authenticator, "alice", "second")).toBe("accepted");
    // What is as it was is not read again.
    expect(lines.filter(({ level }) => level === "info")).toHaveLength(2);
  });

  it.each<[string, Partial<AccountsFileOptions>]>([
    ["in the time of the process", { recheckSeconds: 0.001 }],
    ["at every login", { recheckSeconds: 0 }],
  ])("follow the file: %s", async (_how, options) => {
    await write("alice", "one");
    const authenticator = create(options);
    await authenticator.start?.();
    await write("alice", "second");
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await outcome(authenticator, "alice", "second")).toBe("accepted");
  });

  it("follow a file that was written over with as many bytes", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    // Longer than any file system's step of time.
    await new Promise((resolve) => setTimeout(resolve, 20));
    await write("alice", "two");
    now += 1000;
    expect(await outcome(authenticator, "alice", "two")).toBe("accepted");
  });

  it.skipIf(process.platform !== "linux")("are read, and rewritten, by a file that is closed again", async () => {
    await write("alice", "one");
    const authenticator = create();
    await authenticator.start?.();
    const update = { username: "alice", currentPassword: "one", newPassword: "two" };
    expect(await authenticator.updatePassword?.(update)).toEqual({ outcome: "updated" });
    await Promise.all([create().start?.(), create().start?.()]);
    const open = await Promise.all(
      (await readdir("/proc/self/fd")).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")),
    );
    expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
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
    expect(errors[0]).toMatchObject({
      details: { file, reason: expect.stringMatching(/^line 1, column 61: is not valid JSON: /) },
      message: "The accounts file is invalid; the previous accounts stay in use.",
    });
    expect(JSON.stringify(errors[0])).not.toContain("hidden");
    // Another fault is another report.
    await writeFile(file, '{ "accounts": {} }');
    for (let round = 0; round < 2; round += 1) {
      now += 1000;
      expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
    }
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(2);
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
    expect(lines.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        details: { file, reason: "does not exist" },
        message: "The accounts file cannot be read; the previous accounts stay in use.",
      },
    ]);
    await rename(`${file}.away`, file);
    now += 1000;
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
  });

  it.skipIf(process.platform === "win32")(
    "stay as they were while a pipe replaces the file, and no caller is blocked",
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

  it("tell whether a session's version of them stands, by a look of within the last second or, where it does not, of now", async () => {
    await write("alice", "one");
    const authenticator = create();
    const isCurrent = (username: string, version = "") => authenticator.isCurrent?.(username, version);
    const certificate = { type: "ssl-certificate", username: "alice", content: "-----BEGIN CERTIFICATE-----" } as const;
    const versionNow = async () => {
      const verdict = await authenticator.authenticate(certificate);
      return verdict.outcome === "accepted" ? verdict.version : undefined;
    };
    now = 5000;
    expect(await isCurrent("alice")).toBe(false);
    const first = await versionNow();
    expect([await isCurrent("alice", first), await isCurrent("bob", first)]).toEqual([true, false]);
    const changed = JSON.stringify({ accounts: [{ username: "alice", password: "one", email: "a@b.example" }] });
    await writeFile(file, changed);
    now += 999;
    expect(await isCurrent("alice", first)).toBe(true);
    now += 1;
    expect(await isCurrent("alice", first)).toBe(false);
    const second = await versionNow();
    expect(second).not.toBe(first);
    await write("alice", "one");
    // A version that this process has not read yet.
    expect(await isCurrent("alice", first)).toBe(true);
    expect(await isCurrent("alice", second)).toBe(false);
  });

  it.each([
    ["a second", 0, 999],
    ["as long as configured", 5, 4999],
  ])("are looked for at most once in %s for a session that stands", async (_how, recheckSeconds, wait) => {
    await write("alice", "one");
    const authenticator = create({ recheckSeconds, clock: () => now });
    const verdict = await authenticator.authenticate({ type: "password", username: "alice", content: "one" });
    const version = verdict.outcome === "accepted" ? String(verdict.version) : "";
    await writeFile(file, JSON.stringify({ accounts: [] }));
    now += wait;
    expect(await authenticator.isCurrent?.("alice", version)).toBe(true);
    now += 1;
    expect(await authenticator.isCurrent?.("alice", version)).toBe(false);
  });

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

function create(options: Partial<AccountsFileOptions> = { clock: () => now }): Authenticator {
  const at = (level: string): Logger["info"] => {
    return (details, message) => void lines.push({ level, details, message });
  };
  const logger = { info: at("info"), warn: at("warn"), error: at("error") };
  return createAccountsFileAuthenticator({ file, logger, ...options });
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
