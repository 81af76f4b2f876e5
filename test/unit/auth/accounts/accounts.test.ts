import { createHash, scryptSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type AccountEntry, createAccountsAuthenticator } from "../../../../src/auth/accounts/accounts.ts";
import { createPasswordHasher, type PasswordHasher } from "../../../../src/auth/passwords/hash.ts";
import type { Authenticator, Verdict } from "../../../../src/contracts/authenticator.ts";
import type { Logger } from "../../../../src/contracts/logger.ts";
import { HttpError } from "../../../../src/http/http-error.ts";

const settings = { home_folder_path: "/srv/alice", uuid: "u-1", email: "a@example.org", create_home_folder: false };
const accounts = [
  { username: "alice", password: cheapHash("alice's secret"), ...settings },
  { username: "bob", password: cheapHash("bob's secret") },
];

describe("the accounts given in code", () => {
  let authenticator: Authenticator;

  beforeEach(() => {
    authenticator = createAccountsAuthenticator({ accounts });
  });

  it("accept the right password, with the settings and nothing else", async () => {
    const version = expect.stringMatching(/^[0-9a-f]{64}$/);
    const alices = await login(authenticator, "alice", "alice's secret");
    expect(alices).toEqual({ outcome: "accepted", account: settings, version });
    expect(await login(authenticator, "bob", "bob's secret")).toEqual({ outcome: "accepted", account: {}, version });
  });

  it("reject a wrong password, do not know another name (9.0)", async () => {
    expect(await login(authenticator, "alice", "bob's secret")).toEqual({ outcome: "rejected" });
    for (const name of ["carol", "Alice", "alice ", "", "__proto__", "a\0", "x".repeat(100_000)]) {
      expect(await login(authenticator, name, "alice's secret")).toEqual({ outcome: "unknown" });
    }
  });

  it("accept a verified client certificate of an account, without its password", async () => {
    const pem = "-----BEGIN CERTIFICATE-----";
    const verify = (username: string) =>
      authenticator.authenticate({ type: "ssl-certificate", username, content: pem });
    expect(await verify("alice")).toMatchObject({ outcome: "accepted", account: settings });
    expect(await verify("carol")).toEqual({ outcome: "unknown" });
  });

  it("do not let in one that is disabled, by any way, and end its sessions and links", async () => {
    const { version } = (await login(authenticator, "alice", "alice's secret")) as { readonly version: string };
    const [alice, bob] = accounts as [AccountEntry, AccountEntry];
    const changed = createAccountsAuthenticator({ accounts: [{ ...alice, disabled: true }, bob] });
    expect(await login(changed, "alice", "alice's secret")).toEqual({ outcome: "rejected" });
    const certificate = { type: "ssl-certificate", username: "alice", content: "" } as const;
    expect(await changed.authenticate(certificate)).toEqual({ outcome: "rejected" });
    expect(await changed.isCurrent?.("alice", version)).toBe(false);
    expect(await changed.lookup?.("alice")).toEqual({ outcome: "unknown", isTaken: true });
    const enabled = createAccountsAuthenticator({ accounts: [{ ...alice, disabled: false }, bob] });
    expect(await enabled.isCurrent?.("alice", version)).toBe(true);
  });

  it("know no SSH keys", async () => {
    const verdict = await authenticator.authenticate({
      type: "ssh-key",
      username: "alice",
      content: "ssh-ed25519 AAAA",
    });
    expect(verdict).toEqual({ outcome: "unknown" });
  });

  it("know no name when there are none", async () => {
    const none = createAccountsAuthenticator({ accounts: [] });
    expect(await login(none, "alice", "x")).toEqual({ outcome: "unknown" });
    await expect(none.equalizeTiming?.({ type: "password", username: "alice", content: "x" })).resolves.toBeUndefined();
  });

  it("are the method that operators know as accounts, and change no password", async () => {
    expect(authenticator.name).toBe("accounts");
    expect(await authenticator.canUpdatePassword?.("alice")).toBe("not-updatable");
    expect(await authenticator.canUpdatePassword?.("carol")).toBe("unknown");
  });

  it("stand by the version of an account, and of no other", async () => {
    const [alices, bobs] = [versionOf(settings, accounts[0]?.password), versionOf({}, accounts[1]?.password)];
    expect(await login(authenticator, "alice", "alice's secret")).toMatchObject({ version: alices });
    expect(await authenticator.isCurrent?.("alice", alices)).toBe(true);
    expect(await authenticator.isCurrent?.("alice", bobs)).toBe(false);
    expect(await authenticator.isCurrent?.("carol", bobs)).toBe(false);
  });
});

describe("the cost of a login", () => {
  it("is one verification, whether the name is known or not", async () => {
    const { hasher, verified } = recordingHasher();
    const authenticator = createAccountsAuthenticator({ accounts, passwordHasher: hasher });
    for (const name of ["alice", "bob", "carol", "dave", "__proto__"]) {
      const before = verified.length;
      await login(authenticator, name, "wrong");
      expect(verified.length - before).toBe(1);
    }
  });

  it("is that of an unknown name where it is only imitated, and nothing where there is no password", async () => {
    const { hasher, verified } = recordingHasher();
    const authenticator = createAccountsAuthenticator({ accounts, passwordHasher: hasher });
    for (const username of ["carol", "dave"]) {
      await login(authenticator, username, "x");
      await authenticator.equalizeTiming?.({ type: "password", username, content: "x" });
      expect(verified.at(-1)).toBe(verified.at(-2));
    }
    expect(verified).toHaveLength(4);
    await authenticator.equalizeTiming?.({ type: "ssh-key", username: "carol", content: "ssh-ed25519 AAAA" });
    expect(verified).toHaveLength(4);
  });

  it("of an unknown name is always that of the same account, and over many names that of each", async () => {
    const { hasher, verified } = recordingHasher();
    const many = Array.from({ length: 4 }, (_, index) => ({
      username: `user${index}`,
      password: cheapHash(`${index}`),
    }));
    const authenticator = createAccountsAuthenticator({ accounts: many, passwordHasher: hasher });
    for (let index = 0; index < 100; index += 1) {
      await login(authenticator, `unknown${index}`, "x");
      await login(authenticator, `unknown${index}`, "x");
      expect(verified.at(-1)).toBe(verified.at(-2));
    }
    expect(new Set(verified)).toEqual(new Set(many.map(({ password }) => password)));
  });

  it("does not let an unknown name in with the password of its stand-in", async () => {
    const authenticator = createAccountsAuthenticator({ accounts: [{ username: "alice", password: "secret" }] });
    for (const name of ["carol", "dave"]) {
      expect(await login(authenticator, name, "secret")).toEqual({ outcome: "unknown" });
    }
  });

  it("is refused alike for known and unknown names when too many log in", async () => {
    const passwordHasher: PasswordHasher = {
      hash: () => Promise.reject(new Error("unused")),
      verify: () => Promise.reject(new HttpError("unavailable", "Too many concurrent logins.")),
    };
    const authenticator = createAccountsAuthenticator({ accounts, passwordHasher });
    for (const name of ["alice", "carol"]) {
      await expect(login(authenticator, name, "x")).rejects.toMatchObject({ failure: "unavailable" });
    }
  });
});

describe("plain-text passwords", () => {
  const plain = [
    { username: "demo", password: "demo" },
    { username: "über", password: "$ecret €" },
    { username: "hashed", password: cheapHash("hashed") },
  ];

  it("are compared whole", async () => {
    const authenticator = createAccountsAuthenticator({ accounts: plain });
    expect((await login(authenticator, "demo", "demo")).outcome).toBe("accepted");
    expect((await login(authenticator, "über", "$ecret €")).outcome).toBe("accepted");
    for (const wrong of ["dem", "demo ", "Demo", "", "demo\0"]) {
      expect((await login(authenticator, "demo", wrong)).outcome).toBe("rejected");
    }
  });

  it("are warned of once, by number, never by name or text", () => {
    const { logger, lines } = recordingLogger();
    createAccountsAuthenticator({ accounts: plain, logger });
    createAccountsAuthenticator({ accounts, logger });
    expect(lines).toHaveLength(1);
    const message = "Accounts have plain-text passwords: replace them by hashes before production use.";
    expect(lines[0]).toEqual({ level: "warn", details: { count: 2 }, message });
    expect(JSON.stringify(lines)).not.toMatch(/demo|ecret/);
  });
});

describe("accounts that are not well-formed", () => {
  const good = { username: "alice", password: "top-secret-text" };
  const cases: [string, unknown, RegExp][] = [
    ["no list", { alice: good }, /^accounts: .*array/],
    ["no object", ["alice"], /^accounts\[0\]: /],
    ["an unknown member", [good, { ...good, homefolder: "/x" }], /^accounts\[1\]\.homefolder: /],
    ["a duplicate name", [good, { ...good }], /^accounts\[1\]\.username: is already in use$/],
    ["an empty name", [{ ...good, username: "" }], /^accounts\[0\]\.username: must not be empty$/],
    ["an over-long name", [{ ...good, username: "ä".repeat(128) }], /^accounts\[0\]\.username: .*255/],
    [
      "a control character in the name",
      [{ ...good, username: "a\nb" }],
      /^accounts\[0\]\.username: must not contain control characters$/,
    ],
    ["a missing name", [{ password: "x" }], /^accounts\[0\]\.username: /],
    ["a missing password", [{ username: "alice" }], /^accounts\[0\]\.password: /],
    ["an empty password", [{ ...good, password: "" }], /^accounts\[0\]\.password: must not be empty$/],
    ["a password that is no text", [{ ...good, password: 12345 }], /^accounts\[0\]\.password: /],
    ["a null member", [{ ...good, email: null }], /^accounts\[0\]\.email: /],
    ["a wrong type", [{ ...good, create_home_folder: "yes" }], /^accounts\[0\]\.create_home_folder: /],
    ["an empty uuid", [{ ...good, uuid: "" }], /^accounts\[0\]\.uuid: /],
    [
      "a hash that we cannot verify",
      [{ ...good, password: "$2b$12$R9h/cIPz0gi.URNNX3kh2OP" }],
      /^accounts\[0\]\.password: /,
    ],
    [
      "a hash that costs too much",
      [{ ...good, password: `$scrypt$ln=30,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}` }],
      /cost/,
    ],
    ...["relative", "", "/a/../b", "/.", "/a//b", "/a/", "//", "/a\0b", "/a\\b", "C:/x"].map(
      (path): [string, unknown, RegExp] => [
        `the home ${JSON.stringify(path)}`,
        [{ ...good, home_folder_path: path }],
        /^accounts\[0\]\.home_folder_path: /,
      ],
    ),
  ];

  it.each(cases)("throw TypeError that names the place, never the password: %s", (_name, value, message) => {
    const make = () => createAccountsAuthenticator({ accounts: value as [] });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(/top-secret-text|12345|R9h/);
  });

  it("unlike these homes, which are fine", () => {
    for (const home_folder_path of ["/", "/a", "/a/b c/d", "/..a/b..", "/文件"]) {
      expect(() => createAccountsAuthenticator({ accounts: [{ ...good, home_folder_path }] })).not.toThrow();
    }
  });
});

function login(authenticator: Authenticator, username: string, content: string): Promise<Verdict> {
  return authenticator.authenticate({ type: "password", username, content });
}

/** What stands for an account in sessions that may outlive the process: a later release must give the same. */
function versionOf(known: object, password: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([known, password]))
    .digest("hex");
}

/** Of a cost that suits tests. */
function cheapHash(password: string): string {
  const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replaceAll("=", "");
  const salt = Buffer.from(password.padEnd(16, ".").slice(0, 16));
  return `$scrypt$ln=4,r=8,p=1$${encode(salt)}$${encode(scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 }))}`;
}

function recordingHasher(): { hasher: PasswordHasher; verified: string[] } {
  const verified: string[] = [];
  const inner = createPasswordHasher();
  const verify = (password: string, phc: string) => {
    verified.push(phc);
    return inner.verify(password, phc);
  };
  return { hasher: { hash: inner.hash, verify }, verified };
}

function recordingLogger(): { logger: Logger; lines: unknown[] } {
  const lines: unknown[] = [];
  const at = (level: string) => (details: object, message: string) => lines.push({ level, details, message });
  return { logger: { info: at("info"), warn: at("warn"), error: at("error") }, lines };
}
