import { describe, expect, it } from "vitest";
import { createAuthenticationChain } from "../../../src/auth/chain.ts";
import type {
  Authenticator,
  Credentials,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
  Verdict,
} from "../../../src/contracts/authenticator.ts";
import type { Logger } from "../../../src/contracts/logger.ts";
import { HttpError } from "../../../src/http/http-error.ts";

const accepted: Verdict = { outcome: "accepted", account: { uuid: "u-1" } };
const unknown: Verdict = { outcome: "unknown" };
const rejected: Verdict = { outcome: "rejected", message: "Locked." };
const credentials: Credentials = { type: "password", username: "alice", content: "secret" };

describe("the authentication chain", () => {
  it.each<[string, Verdict[], Verdict, number]>([
    ["no method", [], unknown, 0],
    ["the first that accepts", [accepted, rejected], accepted, 1],
    ["the first that rejects", [rejected, accepted], rejected, 1],
    ["the next one after an unknown", [unknown, accepted, rejected], accepted, 2],
    ["a rejection after an unknown", [unknown, rejected, accepted], rejected, 2],
    [
      "the last one when all do not know",
      [unknown, { outcome: "unknown", message: "Who?" }],
      { outcome: "unknown", message: "Who?" },
      2,
    ],
  ])("follows %s (7.2)", async (_name, verdicts, expected, asked) => {
    const calls: Credentials[] = [];
    const methods = verdicts.map((verdict, index) =>
      method(`m${index}`, async (given) => {
        calls.push(given);
        return verdict;
      }),
    );
    expect(await createAuthenticationChain(methods).authenticate(credentials)).toMatchObject(expected);
    expect(calls).toHaveLength(asked);
    expect(calls.every((given) => given === credentials)).toBe(true);
  });

  it("takes a method that throws for a rejection, and reports it without the password", async () => {
    const { logger, lines } = recordingLogger();
    const error = new Error("LDAP is down");
    for (const verify of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const methods = [
        method("first", async () => unknown),
        method("ldap", verify),
        method("next", async () => accepted),
      ];
      expect(await createAuthenticationChain(methods, { logger }).authenticate(credentials)).toMatchObject({
        outcome: "rejected",
        reason: "failure",
      });
    }
    expect(lines).toHaveLength(2);
    const message = "An authentication method failed; the login is rejected.";
    expect(lines[0]).toEqual({ details: { method: "ldap", username: "alice", error }, message });
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("takes an answer that is no verdict for a rejection", async () => {
    for (const odd of [
      undefined,
      null,
      {},
      true,
      "accepted",
      { outcome: "acepted" },
      { outcome: "accepted" },
      { outcome: "accepted", account: null },
    ]) {
      const { logger, lines } = recordingLogger();
      const chain = createAuthenticationChain(
        [method("odd", async () => odd as Verdict), method("next", async () => accepted)],
        { logger },
      );
      expect(await chain.authenticate(credentials)).toMatchObject({ outcome: "rejected", reason: "failure" });
      expect(lines).toMatchObject([{ details: { error: new TypeError("The method returned no verdict.") } }]);
    }
  });

  it("passes on that a method is too busy", async () => {
    const busy = new HttpError("unavailable", "Too many concurrent logins.", { "Retry-After": "1" });
    const chain = createAuthenticationChain([method("busy", () => Promise.reject(busy))]);
    await expect(chain.authenticate(credentials)).rejects.toBe(busy);
    const other = createAuthenticationChain([method("odd", () => Promise.reject(new HttpError("denied", "No.")))]);
    expect((await other.authenticate(credentials)).outcome).toBe("rejected");
  });

  it.each<[string, Partial<Credentials>]>([
    ["an empty name", { username: "" }],
    ["an over-long name", { username: "x".repeat(256) }],
    ["a name over-long as UTF-8", { username: "ä".repeat(128) }],
    ["a name with NUL", { username: "alice\0" }],
    ["a name with a line break", { username: "alice\r\nX: y" }],
    ["an empty password", { content: "" }],
    ["an over-long password", { content: "x".repeat(1025) }],
    ["an endless password", { content: "x".repeat(10_000_000) }],
    ["an over-long key", { type: "ssh-key", content: "x".repeat(16 * 1024 + 1) }],
    ["an over-long certificate", { type: "ssl-certificate", content: "x".repeat(64 * 1024 + 1) }],
  ])("asks no method about %s", async (_name, part) => {
    let asked = 0;
    const chain = createAuthenticationChain([
      method("m", async () => {
        asked += 1;
        return accepted;
      }),
    ]);
    expect(await chain.authenticate({ ...credentials, ...part })).toEqual({ outcome: "rejected", verdicts: [] });
    expect(asked).toBe(0);
  });

  it("asks about what is just not over-long", async () => {
    const chain = createAuthenticationChain([method("m", async () => accepted)]);
    for (const part of [
      { username: "ä".repeat(127) },
      { content: "x".repeat(1024) },
      { type: "ssh-key", content: "x".repeat(16_384) } as const,
      { type: "ssl-certificate", content: "x".repeat(65_536) } as const,
    ]) {
      expect(await chain.authenticate({ ...credentials, ...part })).toMatchObject(accepted);
    }
  });
});

describe("the start of the chain", () => {
  it("starts every method once, in order, for all callers", async () => {
    const calls: string[] = [];
    const methods = ["a", "b"].map((name) => ({
      ...method(name, async () => unknown),
      start: async () => void calls.push(name),
    }));
    const chain = createAuthenticationChain([...methods, method("without", async () => accepted)]);
    await Promise.all([chain.start(), chain.start(), chain.authenticate(credentials)]);
    await chain.start();
    expect(calls).toEqual(["a", "b"]);
  });

  it("rejects as the method that fails, for all callers, and goes on with that one", async () => {
    const calls: string[] = [];
    let working = false;
    const starting = (name: string, work: () => Promise<void>) => ({
      ...method(name, async () => accepted),
      start: work,
    });
    const chain = createAuthenticationChain([
      starting("good", async () => void calls.push("good")),
      starting("bad", async () => {
        calls.push("bad");
        if (!working) throw new Error("No URL answers");
      }),
      starting("last", async () => void calls.push("last")),
    ]);
    const results = await Promise.allSettled([chain.start(), chain.start()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    working = true;
    await chain.start();
    expect(calls).toEqual(["good", "bad", "bad", "last"]);
  });

  it("happens when a method is first asked, if it was not started, and is tried again after a failure (CONTRACT 9.3)", async () => {
    const { logger, lines } = recordingLogger();
    let isReachable = false;
    let starts = 0;
    const remote: Authenticator = {
      ...method("remote", async () => accepted),
      start: async () => {
        starts += 1;
        if (!isReachable) throw new Error("No URL answers");
      },
    };
    const knowsBob = method("local", async ({ username }) => (username === "bob" ? accepted : unknown));
    const chain = createAuthenticationChain([knowsBob, remote], { logger });
    expect(await chain.authenticate({ ...credentials, username: "bob" })).toMatchObject(accepted);
    expect(starts).toBe(0);
    const unavailable = { outcome: "rejected", reason: "unavailable" };
    const audit = { problems: ["No URL answers"] };
    const verdicts = [
      { method: "local", outcome: "unknown" },
      { method: "remote", ...unavailable, audit },
    ];
    expect(await chain.authenticate(credentials)).toEqual({ ...unavailable, audit, verdicts });
    const details = { method: "remote", username: "alice", error: new Error("No URL answers") };
    const message = "An authentication method failed to start; the login is rejected.";
    expect(lines).toEqual([{ details, message }]);
    isReachable = true;
    expect(await chain.authenticate(credentials)).toMatchObject(accepted);
    expect(await chain.authenticate(credentials)).toMatchObject(accepted);
    expect(starts).toBe(2);
  });

  it("may fail with any value, and without a logger", async () => {
    const odd = { ...method("odd", async () => accepted), start: () => Promise.reject("no configuration") };
    const audit = { problems: ["no configuration"] };
    expect(await createAuthenticationChain([odd]).authenticate(credentials)).toMatchObject({ audit });
  });

  it("returns the verdicts of all methods, in order (CONTRACT 8)", async () => {
    const verdicts: Verdict[] = [
      { outcome: "unknown" },
      { outcome: "unknown", message: "Who?", audit: { host: "a" } },
      {
        outcome: "rejected",
        reason: "failure",
        message: "Down.",
        publicResponse: { retry: true },
        audit: { host: "b" },
      },
    ];
    const chain = createAuthenticationChain(verdicts.map((verdict, index) => method(`m${index}`, async () => verdict)));
    expect((await chain.authenticate(credentials)).verdicts).toStrictEqual([
      { method: "m0", outcome: "unknown" },
      { method: "m1", outcome: "unknown", message: "Who?", audit: { host: "a" } },
      { method: "m2", outcome: "rejected", reason: "failure", message: "Down.", audit: { host: "b" } },
    ]);
    const wrong = createAuthenticationChain([method("m", async () => ({ outcome: "rejected" }))]);
    const { verdicts: said } = await wrong.authenticate(credentials);
    expect(said).toEqual([{ method: "m", outcome: "rejected", reason: "credentials" }]);
  });
});

function method(name: string, authenticate: Authenticator["authenticate"]): Authenticator {
  return { name, authenticate };
}

function recordingLogger(): { logger: Logger; lines: unknown[] } {
  const lines: unknown[] = [];
  const log = (details: object, message: string) => void lines.push({ details, message });
  return { logger: { info: log, warn: log, error: log }, lines };
}

describe("a chain of several methods", () => {
  it("has the later methods work as hard for a wrong password as for an unknown name (SECURITY 17)", async () => {
    const work: string[] = [];
    const working = (name: string, verdict: Verdict): Authenticator => ({
      name,
      authenticate: async () => {
        work.push(`${name} authenticates`);
        return verdict;
      },
      equalizeTiming: async () => {
        work.push(`${name} imitates`);
        throw new Error("which must not be shown");
      },
    });
    const verify = async (first: Verdict) => {
      work.length = 0;
      const chain = createAuthenticationChain([working("a", first), working("b", unknown), working("c", unknown)]);
      return [(await chain.authenticate({ ...credentials, content: "wrong" })).outcome, ...work];
    };
    expect(await verify(unknown)).toEqual(["unknown", "a authenticates", "b authenticates", "c authenticates"]);
    expect(await verify(rejected)).toEqual(["rejected", "a authenticates", "b imitates", "c imitates"]);
    expect(await verify(accepted)).toEqual(["accepted", "a authenticates"]);
  });
});

describe("a change of password by the chain", () => {
  const update = { username: "alice", currentPassword: "secret", newPassword: "another" };
  const updating = (outcome: PasswordUpdateOutcome["outcome"]) => async (own: PasswordUpdate) => {
    await own.beforeChange?.("1");
    return { outcome };
  };

  it.each<[string, Partial<Authenticator>[], PasswordUpdatability, PasswordUpdateOutcome["outcome"]]>([
    ["unknown without methods", [], "unknown", "unknown"],
    ["unknown if no method changes passwords", [{}, {}], "unknown", "unknown"],
    [
      "a method that does not say whether it can",
      [{}, { updatePassword: updating("updated") }],
      "updatable",
      "updated",
    ],
    [
      "the first that knows the account",
      [
        { canUpdatePassword: async () => "unknown", updatePassword: updating("wrong-password") },
        { canUpdatePassword: async () => "updatable", updatePassword: updating("updated") },
        { updatePassword: updating("wrong-password") },
      ],
      "updatable",
      "updated",
    ],
    [
      "the first that knows the account, also where it cannot",
      [
        { canUpdatePassword: async () => "not-updatable", updatePassword: updating("updated") },
        { updatePassword: updating("updated") },
      ],
      "not-updatable",
      "not-updatable",
    ],
    ["one that only says that it can", [{ canUpdatePassword: async () => "updatable" }], "updatable", "not-updatable"],
    [
      "the next one where the account is gone meanwhile",
      [{ updatePassword: updating("unknown") }, { updatePassword: updating("wrong-password") }],
      "updatable",
      "wrong-password",
    ],
  ])("is up to %s", async (_name, parts, updatability, outcome) => {
    const chain = createAuthenticationChain(
      parts.map((part, index) => ({ ...method(`m${index}`, async () => unknown), ...part })),
    );
    expect(await chain.canUpdatePassword("alice")).toBe(updatability);
    expect(await chain.updatePassword(update)).toEqual({ outcome });
  });

  it("asks no method about a password that no account can have", async () => {
    const own = { ...method("own", async () => unknown), updatePassword: updating("updated") };
    const outcome = await createAuthenticationChain([own]).updatePassword({
      ...update,
      currentPassword: "x".repeat(1025),
    });
    expect(outcome).toEqual({ outcome: "wrong-password" });
  });

  it.each<[string, Partial<Authenticator>]>([
    ["does not start", { start: () => Promise.reject(new Error("down")) }],
    ["fails", { canUpdatePassword: () => Promise.reject(new Error("down")) }],
    [
      "fails in a way that is for other requests",
      { canUpdatePassword: () => Promise.reject(new HttpError("denied", "No.")) },
    ],
  ])("is unavailable where a method %s, which is reported", async (_what, part) => {
    const { logger, lines } = recordingLogger();
    const failing = { ...method("own", async () => unknown), updatePassword: updating("updated"), ...part };
    const unavailable = {
      failure: "unavailable",
      message: "Passwords cannot be changed at the moment.",
      headers: { "Retry-After": "1" },
    };
    for (const chain of [createAuthenticationChain([failing], { logger }), createAuthenticationChain([failing])]) {
      await expect(chain.canUpdatePassword("alice")).rejects.toMatchObject(unavailable);
      await expect(chain.updatePassword(update)).rejects.toMatchObject(unavailable);
    }
    const details = { method: "own", username: "alice", error: expect.any(Error) };
    const line = { details, message: "An authentication method failed; no password was changed." };
    expect(lines).toEqual([line, line]);
  });

  it("passes on that a method is too busy, which is nothing to report", async () => {
    const { logger, lines } = recordingLogger();
    const busy = new HttpError("unavailable", "Too many concurrent logins.", { "Retry-After": "1" });
    const own = { ...method("own", async () => unknown), updatePassword: () => Promise.reject(busy) };
    await expect(createAuthenticationChain([own], { logger }).updatePassword(update)).rejects.toBe(busy);
    expect(lines).toEqual([]);
  });
});

describe("the versions that methods give of an account", () => {
  const versioned = (name: string, current: string, more: Partial<Authenticator> = {}): Authenticator => ({
    name,
    authenticate: async ({ username }) =>
      username === current ? { outcome: "accepted", account: {}, version: current } : { outcome: "unknown" },
    isCurrent: async (_username, version) => version === current,
    ...more,
  });
  const versionOf = async (methods: readonly Authenticator[], username: string): Promise<string> => {
    const judgement = await createAuthenticationChain(methods).authenticate({ ...credentials, username });
    return judgement.outcome === "accepted" ? (judgement.version ?? "none") : "refused";
  };

  it("are current while their own method says so, at any position in the chain", async () => {
    const methods = [versioned("a", "1"), versioned("b", "2"), versioned("b", "3")];
    for (const username of ["1", "2", "3"]) {
      const version = await versionOf(methods, username);
      expect(await createAuthenticationChain(methods).isCurrent(username, version)).toBe(true);
      const moved = [method("new", async () => unknown), ...methods];
      expect(await createAuthenticationChain(moved).isCurrent(username, version)).toBe(true);
      const changed = [versioned("a", "x"), versioned("b", "y"), versioned("b", "z")];
      expect(await createAuthenticationChain(changed).isCurrent(username, version)).toBe(false);
    }
  });

  it("stand by no other method, also where that one gives the same", async () => {
    const version = await versionOf([versioned("a", "1")], "1");
    const methods = [versioned("a", "2"), versioned("b", "1"), versioned("a", "1")];
    expect(await createAuthenticationChain(methods).isCurrent("1", version)).toBe(false);
    expect(await createAuthenticationChain([versioned("b", "1")]).isCurrent("1", version)).toBe(undefined);
    expect(await createAuthenticationChain([method("a", async () => unknown)]).isCurrent("1", version)).toBe(undefined);
    for (const odd of ["", "1", "null", "{}", '["a"]', '["a",0]', '["a",0,1]']) {
      const easy = versioned("a", "1", { isCurrent: async () => true });
      expect(await createAuthenticationChain([easy]).isCurrent("1", odd)).toBeUndefined();
    }
  });

  it("do not depend on a neighbour that fails, or does not start", async () => {
    const fail = () => Promise.reject(new Error("the database is down"));
    const own = versioned("own", "1");
    const version = await versionOf([own], "1");
    for (const neighbour of [versioned("down", "2", { isCurrent: fail }), versioned("down", "2", { start: fail })]) {
      expect(await createAuthenticationChain([neighbour, own]).isCurrent("1", version)).toBe(true);
    }
    const failing = createAuthenticationChain([versioned("own", "1", { isCurrent: fail })]);
    await expect(failing.isCurrent("1", version)).rejects.toMatchObject({ failure: "unavailable" });
  });

  it("are dropped where the method has no isCurrent, which is warned of once", async () => {
    const { logger, lines } = recordingLogger();
    const { authenticate } = versioned("inner", "1");
    const chain = createAuthenticationChain([method("wrapper", authenticate)], { logger });
    for (let login = 0; login < 2; login += 1) {
      expect(await chain.authenticate({ ...credentials, username: "1" })).not.toHaveProperty("version");
    }
    expect(lines).toEqual([{ details: { method: "wrapper" }, message: expect.stringContaining("isCurrent") }]);
  });

  it.each([undefined, null, 1])("are none where they are no text: %j", async (version) => {
    const authenticate = async () => ({ ...accepted, version }) as unknown as Verdict;
    const chain = createAuthenticationChain([versioned("own", "1", { authenticate })]);
    expect(await chain.authenticate(credentials)).not.toHaveProperty("version");
  });

  it("are of that method in a change of password too", async () => {
    const versions: unknown[] = [];
    const updatePassword: Authenticator["updatePassword"] = async (update) => {
      await update.beforeChange?.("2");
      return { outcome: "updated" };
    };
    const beforeChange = async (version?: string) => void versions.push(version);
    const update = { username: "alice", currentPassword: "secret", newPassword: "another", beforeChange };
    const own = versioned("own", "2", { updatePassword });
    const chain = createAuthenticationChain([
      versioned("other", "2", { canUpdatePassword: async () => "unknown" }),
      own,
    ]);
    expect(await chain.updatePassword(update)).toEqual({ outcome: "updated" });
    expect(versions).toEqual([await versionOf([own], "2")]);
    expect(await chain.isCurrent("alice", String(versions[0]))).toBe(true);
    await createAuthenticationChain([{ ...method("without", async () => unknown), updatePassword }]).updatePassword(
      update,
    );
    expect(versions[1]).toBeUndefined();
  });
});
