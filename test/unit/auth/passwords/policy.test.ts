import { describe, expect, it } from "vitest";
import { findPolicyProblems, type NewPassword } from "../../../../src/auth/passwords/policy.ts";
import type { PasswordPolicy } from "../../../../src/contracts/password-policy.ts";

const PROBLEMS = {
  short: "The new password must have at least 12 characters.",
  long: "The new password must not be longer than 1024 bytes.",
  control: "The new password must not contain control characters.",
  name: "The new password must not contain the user name.",
  same: "The new password must not be the current one.",
  weak: "The new password is too easy to guess.",
};

async function problemsOf(newPassword: string, policy: PasswordPolicy = {}, change: Partial<NewPassword> = {}) {
  const request = { username: "alice", currentPassword: "the former one", newPassword, ...change };
  return (await findPolicyProblems(policy, request)).map(({ message }) => message);
}

describe("the default policy", () => {
  it.each<[string, readonly string[]]>([
    ["twelve chars", []],
    ["correct horse battery staple", []],
    ["pässwörter 💚", []],
    ["x".repeat(1024), []],
    ["", [PROBLEMS.short]],
    ["eleven char", [PROBLEMS.short]],
    // Six characters that take twelve code units.
    ["💚".repeat(6), [PROBLEMS.short]],
    ["x".repeat(1025), [PROBLEMS.long]],
    ["ä".repeat(513), [PROBLEMS.long]],
    ["twelve\u0000chars", [PROBLEMS.control]],
    ["twelve\nchars!", [PROBLEMS.control]],
    ["twelve \ud800 chars", [PROBLEMS.control]],
    ["I am Alice, really", [PROBLEMS.name]],
    ["the former one", [PROBLEMS.same]],
    ["alice", [PROBLEMS.short, PROBLEMS.name]],
  ])("of %j finds %j", async (password, problems) => {
    expect(await problemsOf(password)).toEqual(problems);
  });

  it("lets short names stand in a password, but not be it", async () => {
    expect(await problemsOf("a password with a b", {}, { username: "b" })).toEqual([]);
    expect(await problemsOf("a password with bob", {}, { username: "bob" })).toEqual([PROBLEMS.name]);
    expect(await problemsOf("b", { minLength: 1 }, { username: "B" })).toEqual([PROBLEMS.name]);
  });
});

describe("a policy of one's own", () => {
  it("sets the lengths", async () => {
    expect(await problemsOf("abc", { minLength: 3, maxLength: 4 })).toEqual([]);
    expect(await problemsOf("ab", { minLength: 3 })).toEqual(["The new password must have at least 3 characters."]);
    const long = ["The new password must not have more than 4 characters."];
    expect(await problemsOf("abcde", { minLength: 3, maxLength: 4 })).toEqual(long);
  });

  it("asks for classes of characters, one problem for each that is missing", async () => {
    const policy: PasswordPolicy = { minLength: 1, requireClasses: ["lowercase", "uppercase", "digit", "symbol"] };
    expect(await problemsOf("aB3-", policy)).toEqual([]);
    expect(await problemsOf("éÉ٣ ", policy)).toEqual([]);
    expect(await problemsOf("a-", policy)).toEqual([
      "The new password must contain an upper-case letter.",
      "The new password must contain a digit.",
    ]);
    expect(await problemsOf("AB3", policy)).toEqual([
      "The new password must contain a lower-case letter.",
      "The new password must contain a character that is neither a letter nor a digit.",
    ]);
  });

  it("may let the user name in", async () => {
    expect(await problemsOf("alice in wonderland", { allowUserName: true })).toEqual([]);
  });

  it("may ask for an estimate of the strength, in time or later", async () => {
    const byLength = (password: string) => password.length / 10;
    expect(await problemsOf("twenty characters...", { estimate: byLength })).toEqual([PROBLEMS.weak]);
    expect(await problemsOf("twenty characters...", { estimate: byLength, minEstimate: 2 })).toEqual([]);
    expect(await problemsOf("twenty characters...", { estimate: async () => 4 })).toEqual([]);
    expect(await problemsOf("twenty characters...", { estimate: async () => Number.NaN })).toEqual([PROBLEMS.weak]);
  });

  it("gives the estimate hints, and the beginning of long passwords only", async () => {
    const asked: unknown[] = [];
    const estimate = (...all: unknown[]) => asked.push(all) + 3;
    await problemsOf("💚".repeat(200), { estimate }, { email: "a@one.example, b@two.example" });
    await problemsOf("x".repeat(10_000), { estimate });
    await problemsOf("a new password", { estimate });
    expect(asked).toEqual([
      ["💚".repeat(100), ["alice", "a@one.example", "b@two.example", "the former one"]],
      ["a new password", ["alice", "the former one"]],
    ]);
  });
});
