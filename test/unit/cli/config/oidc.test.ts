import { describe, expect, it } from "vitest";
import { describeIssues } from "../../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../../src/cli/config/schema.ts";

const METHOD = { type: "oidc", issuer: "https://id.example", clientId: "files", clientSecret: "x".repeat(32) };

function problemsOf(...methods: readonly object[]): readonly string[] {
  const config = { groups: { staff: {} }, authentication: methods.map((method) => ({ ...METHOD, ...method })) };
  const parsed = configFileSchema.safeParse(config);
  return parsed.success ? [] : describeIssues(parsed.error);
}

describe("a method of type oidc", () => {
  it("takes all keys, and several providers", () => {
    const all = {
      label: "Example",
      scopes: ["openid"],
      userInfo: false,
      timeoutSeconds: 5,
      nameClaim: "email",
      groupsClaim: "roles",
      groups: { admins: "staff", "*": "DEFAULT_GROUP" },
      account: { permissions: [["allow-read"]] },
      mayShareNames: true,
    };
    const other = { id: "other", namePrefix: "other-", cookieSecret: "y".repeat(32), groups: [["1", "staff"]] };
    expect(problemsOf(all, other)).toEqual([]);
  });

  it.each<[string, readonly object[], string]>([
    ["an unencrypted issuer", [{ issuer: "http://id.example" }], "authentication[0].issuer: must be the https: URL"],
    ["a short secret", [{ clientSecret: "x" }], "authentication[0].cookieSecret: must be at least 32 characters"],
    ["an unknown key", [{ client_id: "files" }], "authentication[0].client_id: unknown key"],
    ["an unknown group", [{ groups: { a: "none" } }], "authentication[0].groups.a: "],
    ["an unknown group of a list", [{ groups: [["1", "none"]] }], "authentication[0].groups[0][1]: "],
    ["names of digits in an object", [{ groups: { 1: "staff" } }], "authentication[0].groups: must be a list of pairs"],
    ["no pairs", [{ groups: [["1"]] }], "authentication[0].groups: must be identifiers of groups"],
    ["an account that could never log in", [{ account: { group: "none" } }], "authentication[0].account.group: "],
    ["one id for two", [{}, { namePrefix: "b" }], "authentication[1].id: must differ"],
    ["one prefix for two", [{}, { id: "b" }], "authentication[1].namePrefix: must differ"],
  ])("with %s is a problem of its key", (_what, methods, problem) => {
    expect(problemsOf(...methods)).toEqual([expect.stringContaining(problem)]);
  });
});
