import { describe, expect, it } from "vitest";
import { createAuthenticationChain } from "../../../src/auth/chain.ts";
import type { AccountLookup, Authenticator } from "../../../src/contracts/authenticator.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createRecordingLogger } from "../../support/logger.ts";

const unknown: AccountLookup = { outcome: "unknown" };
const found: AccountLookup = { outcome: "found", account: { uuid: "u-1", max_link_seconds: 5 } };
const other: AccountLookup = { outcome: "found", account: { uuid: "u-2" } };

describe("the lookup of an account by the chain", () => {
  it.each<[string, (AccountLookup | undefined)[], AccountLookup | undefined, string[]]>([
    ["nothing without methods", [], undefined, []],
    ["nothing if no method has it", [undefined, undefined], undefined, []],
    ["the first that finds the account", [unknown, found, other], found, ["m0", "m1"]],
    ["unknown if no method finds it", [unknown, unknown], unknown, ["m0", "m1"]],
    ["unknown also next to a method that cannot look up", [undefined, unknown], unknown, ["m1"]],
    ["what a method after one without it finds", [undefined, found], found, ["m1"]],
  ])("is %s", async (_name, results, expected, asked) => {
    const calls: string[] = [];
    const recording = (name: string, result: AccountLookup) => async (username: string) => {
      calls.push(`${name} about ${username}`);
      return result;
    };
    const methods = results.map((result, index) => method(`m${index}`, result && recording(`m${index}`, result)));
    const chain = createAuthenticationChain(methods);
    expect(await chain.lookup("alice")).toEqual(expected);
    expect(calls).toEqual(asked.map((name) => `${name} about alice`));
  });

  it.each([
    ["empty", ""],
    ["too long", "x".repeat(256)],
    ["with a control character", "alice\n"],
    ["no text", undefined as never],
  ])("is unknown for a name that is %s, and no method is asked", async (_what, username) => {
    let calls = 0;
    const counting = method("own", async () => {
      calls += 1;
      return found;
    });
    expect(await createAuthenticationChain([counting]).lookup(username)).toEqual(unknown);
    expect(calls).toBe(0);
  });

  it("starts a method that has it, once, and no other", async () => {
    const started: string[] = [];
    const starting = (own: Authenticator): Authenticator => ({
      ...own,
      start: async () => void started.push(own.name),
    });
    const chain = createAuthenticationChain([
      starting(method("without")),
      starting(method("with", async () => found)),
      starting(method("later", async () => other)),
    ]);
    await Promise.all([chain.lookup("alice"), chain.lookup("alice")]);
    expect(started).toEqual(["with"]);
  });

  it.each<[string, Partial<Authenticator>]>([
    ["does not start", { start: () => Promise.reject(new Error("down")) }],
    ["fails", { lookup: () => Promise.reject(new Error("down")) }],
    [
      "throws",
      {
        lookup: () => {
          throw new Error("down");
        },
      },
    ],
    ["fails in a way that is for other requests", { lookup: () => Promise.reject(new HttpError("denied", "No.")) }],
    ["returns nothing", { lookup: async () => undefined as never }],
    ["returns an outcome that is none", { lookup: async () => ({ outcome: "accepted", account: {} }) as never }],
    ["finds an account without settings", { lookup: async () => ({ outcome: "found" }) as never }],
    ["finds settings that are no object", { lookup: async () => ({ outcome: "found", account: "all" }) as never }],
  ])("is unavailable where a method %s, which is logged, and no later method is asked", async (_what, part) => {
    const logger = createRecordingLogger();
    let laterCalls = 0;
    const later = method("later", async () => {
      laterCalls += 1;
      return other;
    });
    const failing = { ...method("own", async () => unknown), ...part };
    const unavailable = {
      failure: "unavailable",
      code: "account-lookup-unavailable",
      message: "Accounts cannot be looked up at the moment.",
      headers: { "Retry-After": "1" },
    };
    await expect(createAuthenticationChain([failing, later]).lookup("alice")).rejects.toMatchObject(unavailable);
    expect(logger.entries).toEqual([]);
    const chain = createAuthenticationChain([failing, later], { logger });
    await expect(chain.lookup("alice")).rejects.toMatchObject(unavailable);
    expect(logger.entries).toEqual([
      {
        level: "error",
        details: { method: "own", username: "alice", error: expect.any(Error) },
        message: "An authentication method failed; an account was not looked up.",
      },
    ]);
    expect(laterCalls).toBe(0);
  });

  it("is not asked of a method after the one that finds the account, also if that one would fail", async () => {
    const failing = method("down", () => Promise.reject(new Error("down")));
    expect(await createAuthenticationChain([method("own", async () => found), failing]).lookup("alice")).toEqual(found);
  });

  it("passes on that a method is too busy, which is nothing to log", async () => {
    const logger = createRecordingLogger();
    const busy = new HttpError("unavailable", "Too many concurrent logins.", { "Retry-After": "1" });
    const chain = createAuthenticationChain([method("own", () => Promise.reject(busy))], { logger });
    await expect(chain.lookup("alice")).rejects.toBe(busy);
    expect(logger.entries).toEqual([]);
  });

  it.each<[string, object, string]>([
    ["an unknown setting, which could forbid something", { quota: 1 }, "quota"],
    ["a setting of the wrong type", { allow_links: "no" }, "allow_links: "],
    ["a list in place of settings", ["all"], "expected object"],
  ])("is unknown for an account with %s, as its login fails", async (_what, account, problem) => {
    const logger = createRecordingLogger();
    const own = method("own", async () => ({ outcome: "found", account }));
    const chain = createAuthenticationChain([own, method("later", async () => other)], { logger });
    expect(await chain.lookup("alice")).toEqual({ ...unknown, isTaken: true });
    expect(logger.entries).toEqual([
      {
        level: "error",
        details: { method: "own", username: "alice", problems: [expect.stringContaining(problem)] },
        message: "A looked-up account has settings that cannot be used.",
      },
    ]);
  });

  it("has the outcome and the settings, and nothing else that a method returns", async () => {
    const own = method("own", async () => ({ ...found, password: "secret" }) as AccountLookup);
    expect(await createAuthenticationChain([own]).lookup("alice")).toStrictEqual(found);
  });
});

function method(name: string, lookup?: Authenticator["lookup"]): Authenticator {
  return { name, authenticate: async () => ({ outcome: "unknown" }), ...(lookup && { lookup }) };
}
