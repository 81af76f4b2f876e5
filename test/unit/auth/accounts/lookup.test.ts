import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../../src/auth/accounts/accounts.ts";
import {
  type AccountsFileOptions,
  createAccountsFileAuthenticator,
} from "../../../../src/auth/accounts/accounts-file-node.ts";
import type { Authenticator } from "../../../../src/contracts/authenticator.ts";
import { createRecordingLogger, type RecordingLogger } from "../../../support/logger.ts";

const unknown = { outcome: "unknown" };

describe("the lookup of accounts in code", () => {
  it("has the settings of the account, and nothing else", async () => {
    const settings = { group: "staff", require_link_password: true };
    const accounts = [
      { username: "alice", password: "secret", ...settings },
      { username: "bob", password: "secret" },
    ];
    const { lookup } = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
    expect(await lookup?.("alice")).toStrictEqual({ outcome: "found", account: settings });
    expect(await lookup?.("bob")).toStrictEqual({ outcome: "found", account: {} });
    for (const name of ["carol", "Alice", "alice ", "__proto__", ""]) expect(await lookup?.(name)).toEqual(unknown);
  });
});

describe("the lookup of accounts in a file", () => {
  let folder: string;
  let file: string;
  let now: number;
  let logger: RecordingLogger;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
    file = join(folder, "accounts.json");
    now = 5000;
    logger = createRecordingLogger();
  });
  afterEach(() => rm(folder, { recursive: true }));

  function create(options: Partial<AccountsFileOptions> = {}): Authenticator {
    return createAccountsFileAuthenticator({ file, logger, clock: () => now, ...options });
  }

  async function replace(text: string): Promise<void> {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  const write = (...accounts: object[]): Promise<void> => replace(JSON.stringify({ accounts }));
  const alice = { username: "alice", password: "secret" };

  it("reads the file at first, also without a start, once for all that ask", async () => {
    await write({ ...alice, email: "a@b.example" });
    const authenticator = create();
    const results = await Promise.all([1, 2, 3].map(() => authenticator.lookup?.("alice")));
    for (const result of results) {
      expect(result).toStrictEqual({ outcome: "found", account: { email: "a@b.example" } });
    }
    expect(logger.entries.filter(({ level }) => level === "info")).toHaveLength(1);
  });

  it("rejects with the reason if the file cannot be read at first", async () => {
    await expect(create().lookup?.("alice")).rejects.toThrow(`${file}: does not exist`);
  });

  it("has the settings of within the last second", async () => {
    await write(alice);
    const authenticator = create();
    await authenticator.start?.();
    await write({ ...alice, allow_links: false });
    now += 999;
    expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: {} });
    now += 1;
    expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: { allow_links: false } });
  });

  it("follows a removal within a second, and an addition at once: only what is found may be old", async () => {
    await write(alice);
    const authenticator = create();
    await authenticator.start?.();
    await write({ ...alice, username: "bob" });
    expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: {} });
    expect(await authenticator.lookup?.("bob")).toEqual({ outcome: "found", account: {} });
    expect(await authenticator.lookup?.("alice")).toEqual(unknown);
  });

  it.each([
    ["a second", 0, 999],
    ["as long as configured", 5, 4999],
  ])("checks an account that it finds at most once in %s", async (_how, recheckSeconds, wait) => {
    await write(alice);
    const authenticator = create({ recheckSeconds });
    await authenticator.start?.();
    await write();
    now += wait;
    expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: {} });
    now += 1;
    expect(await authenticator.lookup?.("alice")).toEqual(unknown);
  });

  it.each([
    ["is invalid", () => replace('{ "accounts": [{ "username": "alice", "password": "secret", "quota": 1 }] }')],
    ["is missing", () => rm(file)],
  ])("goes on with the accounts that it has while the file %s, as logins do", async (_how, spoil) => {
    await write({ ...alice, email: "a@b.example" });
    const authenticator = create();
    await authenticator.start?.();
    await spoil();
    for (let round = 0; round < 3; round += 1) {
      now += 1000;
      expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: { email: "a@b.example" } });
      expect(await authenticator.lookup?.("carol")).toEqual(unknown);
    }
    expect(logger.entries.filter(({ level }) => level === "error")).toHaveLength(1);
    await write(alice);
    now += 1000;
    expect(await authenticator.lookup?.("alice")).toEqual({ outcome: "found", account: {} });
  });
});
