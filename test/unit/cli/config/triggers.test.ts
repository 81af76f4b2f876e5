import { describe, expect, it } from "vitest";
import { describeIssues } from "../../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../../src/cli/config/schema.ts";

const MINIMAL = { authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }] };

function problemsOf(triggers: unknown, more: object = {}): readonly string[] {
  const parsed = configFileSchema.safeParse({ ...MINIMAL, ...more, triggers });
  return parsed.success ? [] : describeIssues(parsed.error);
}

describe("the key triggers of a configuration file", () => {
  it("takes triggers with a label, a style and groups, each of which may be left out (CONTRACT 10)", () => {
    const groups = { staff: {} };
    expect(problemsOf({ approve: { label: "Approve", style: "success", groups: [] } })).toEqual([]);
    expect(problemsOf({ approve: { groups: ["staff", "DEFAULT_GROUP"] }, reject: {} }, { groups })).toEqual([]);
    expect(problemsOf({})).toEqual([]);
  });

  it.each<readonly [triggers: unknown, problem: string]>([
    [[], "triggers: expected record, received array"],
    [{ approve: "now" }, "triggers.approve: expected object, received string"],
    [{ approve: { run: "rm" } }, "triggers.approve.run: unknown key"],
    [{ approve: { label: 1 } }, "triggers.approve.label: expected string, received number"],
    [{ approve: { label: "" } }, "triggers.approve.label: must be a text"],
    [{ approve: { groups: "staff" } }, "triggers.approve.groups: expected array, received string"],
    [{ approve: { groups: ["DEFAULT_GROUP", "staff"] } }, "triggers.approve.groups[1]: is not a configured group"],
    [{ delete: {} }, "triggers.delete: must be named with letters, digits, - and _, and not as a built-in command"],
  ])("says what is wrong, and where: %j", (triggers, problem) => {
    expect(problemsOf(triggers)).toEqual([problem]);
  });

  it("takes no unknown style", () => {
    expect(problemsOf({ approve: { style: "red" } })).toEqual([expect.stringMatching(/^triggers\.approve\.style: /)]);
  });

  it("finds unknown groups among known ones of the configuration", () => {
    const groups = { staff: {} };
    expect(problemsOf({ approve: { groups: ["staff", "staf"] } }, { groups })).toEqual([
      "triggers.approve.groups[1]: is not a configured group",
    ]);
  });
});
