import { describe, expect, it } from "vitest";
import { describeIssues } from "../../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../../src/cli/config/schema.ts";

const AUTHENTICATION = [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }];

function problemsOf(anonymous: unknown): readonly string[] {
  const parsed = configFileSchema.safeParse({ authentication: AUTHENTICATION, anonymous });
  return parsed.success ? [] : describeIssues(parsed.error);
}

describe("the key anonymous", () => {
  it("takes the settings of an account", () => {
    expect(problemsOf({ home_folder_path: "/public", permissions: [["allow-read"]] })).toEqual([]);
  });

  it.each([
    [{ home: "/public" }, "anonymous.home: unknown key"],
    [{ group: "none" }, "anonymous.group: is not a configured group"],
    [{ permissions: [["allow-all"]] }, "anonymous.permissions"],
  ])("%j is a problem", (anonymous, problem) => {
    expect(problemsOf(anonymous)).toEqual([expect.stringContaining(problem)]);
  });
});
