import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createAccountsFileAuthenticator } from "../../src/auth/accounts/accounts-file-node.ts";
import { createAuthenticationChain } from "../../src/auth/chain.ts";
import type { AccountSettings } from "../../src/contracts/account.ts";
import type { AccountLookup, Authenticator } from "../../src/contracts/authenticator.ts";
import { type LookupCase, type LookupCaseContext, lookupCases } from "../../src/testing/lookup-cases.ts";
import { createRecordingLogger } from "../support/logger.ts";

const PASSWORD = "one password";
const SETTINGS: AccountSettings = { group: "staff", permissions: [["allow-full-control"]], max_link_seconds: 60 };
const NARROWED: AccountSettings = { ...SETTINGS, permissions: [["allow-read"]], allow_links: false };
const known = { username: "alice", password: PASSWORD, unknownUsername: "carol" };
const bob = { username: "bob", password: PASSWORD };

/** A method with one account, and how the account is changed. */
type Subject = Omit<LookupCaseContext, "username" | "password" | "unknownUsername">;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-lookups-"));
});
afterEach(() => rm(folder, { recursive: true }));

function inCode(): Authenticator {
  const accounts = [bob, { username: "alice", password: PASSWORD, ...SETTINGS }];
  return createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
}

/** The accounts of a file that is replaced, and a clock of which a second passes at once. */
async function inFile(): Promise<Subject> {
  const file = join(folder, "accounts.json");
  let now = 0;
  const write = async (...accounts: object[]): Promise<void> => {
    await writeFile(`${file}.new`, JSON.stringify({ accounts: [bob, ...accounts] }));
    await rename(`${file}.new`, file);
  };
  await write({ username: "alice", password: PASSWORD, ...SETTINGS });
  const authenticator = createAccountsFileAuthenticator({ file, clock: () => now, logger: createRecordingLogger() });
  await authenticator.start?.();
  return {
    authenticator,
    changeSettings: () => write({ username: "alice", password: PASSWORD, ...NARROWED }),
    changePassword: (password) => write({ username: "alice", password, ...SETTINGS }),
    removeAccount: () => write(),
    wait: async (milliseconds) => {
      now += milliseconds;
    },
  };
}

/** A chain as one method: of one that has no lookup, one that does not know the account, and one that does. */
function chainOf(last: Authenticator): Authenticator {
  const first: Authenticator = { name: "without", authenticate: async () => ({ outcome: "unknown" }) };
  const second = createAccountsAuthenticator({ accounts: [bob], logger: createRecordingLogger() });
  const { lookup, authenticate } = createAuthenticationChain([first, second, last]);
  return {
    name: "chain",
    authenticate,
    lookup: async (username) => (await lookup(username)) ?? { outcome: "unknown" },
  };
}

const subjects: Record<string, () => Promise<Subject>> = {
  "accounts in code": async () => ({ authenticator: inCode() }),
  "accounts in a file": inFile,
  "accounts in a file, whose passwords they change themselves": async () => {
    const subject = await inFile();
    const changePassword = async (newPassword: string): Promise<void> => {
      const update = { username: "alice", currentPassword: PASSWORD, newPassword };
      expect(await subject.authenticator.updatePassword?.(update)).toEqual({ outcome: "updated" });
    };
    return { ...subject, changePassword };
  },
  "a chain": async () => {
    const subject = await inFile();
    return { ...subject, authenticator: chainOf(subject.authenticator) };
  },
};

describe.each(Object.entries(subjects))("the cases of lookup × %s", (_name, create) => {
  for (const { name, needs, run } of lookupCases) {
    it(name, async ({ skip }) => {
      const subject = await create();
      if (needs !== undefined && subject[needs] === undefined) skip(`these accounts have no ${needs}`);
      await run({ ...known, ...subject });
    });
  }
});

describe("the cases of lookup fail", () => {
  type Lookup = NonNullable<Authenticator["lookup"]>;
  const broken: Record<string, (good: Lookup) => Lookup | undefined> = {
    "a method without lookup": () => undefined,
    "one that finds nobody": () => async () => ({ outcome: "unknown" }),
    "one that finds everybody": (good) => () => good("alice"),
    "one that trims names": (good) => (username) => good(username.trim()),
    "one that does not know letters apart": (good) => (username) => good(username.toLowerCase()),
    "one that has other settings than the login": () => async (username) =>
      username === "alice" ? { outcome: "found", account: {} } : { outcome: "unknown" },
    "one that hands out the password": (good) => async (username) => {
      const result = await good(username);
      return result.outcome === "found" ? { ...result, account: { ...result.account, email: PASSWORD } } : result;
    },
    "one that hands out more than settings": (good) => async (username) => ({
      ...(await good(username)),
      version: "1",
    }),
    "one that gives unknown settings": (good) => async (username) => {
      const result = await good(username);
      return result.outcome === "found" ? { ...result, account: { ...result.account, quota: 1 } } : result;
    },
    "one that returns no result": () => async () => undefined as never,
    "one that never asks again": (good) => {
      const results = new Map<string, AccountLookup>();
      return async (username) => {
        const result = results.get(username) ?? (await good(username));
        results.set(username, result);
        return result;
      };
    },
  };

  it.each(Object.entries(broken))("%s", async (_name, wrap) => {
    const failed: string[] = [];
    for (const { name, run } of lookupCases) {
      const subject = await inFile();
      const { lookup: _own, ...others } = subject.authenticator;
      const lookup = wrap((username) => askOwn(subject.authenticator, username));
      const authenticator = { ...others, ...(lookup && { lookup }) };
      await run({ ...known, ...subject, authenticator }).catch(() => failed.push(name));
    }
    expect(failed).not.toEqual([]);
  });

  it("one that forgets an account when its password changes", async () => {
    const subject = await inFile();
    const changePassword = async (): Promise<void> => subject.removeAccount?.();
    await expect(caseOf("changePassword").run({ ...known, ...subject, changePassword })).rejects.toThrow(
      "the account is found",
    );
  });

  function caseOf(needs: LookupCase["needs"]): LookupCase {
    const found = lookupCases.find((one) => one.needs === needs);
    if (found === undefined) throw new Error(`No case needs ${needs}`);
    return found;
  }
});

async function askOwn({ lookup }: Authenticator, username: string): Promise<AccountLookup> {
  return (await lookup?.(username)) ?? { outcome: "unknown" };
}
