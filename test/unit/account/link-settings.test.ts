import { describe, expect, it } from "vitest";
import { createAccountResolver, type Groups, toAccount } from "../../../src/account/account.ts";
import { describeIssues } from "../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../src/cli/config/schema.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import { accountSettingsSchema, groupSettingsSchema } from "../../../src/schemas/account.ts";
import { authenticationSuccessSchema } from "../../../src/schemas/remote-auth.ts";

const own = { allow_links: false, require_link_password: true, max_link_seconds: 60 } satisfies AccountSettings;
const effective = { allowLinks: false, requireLinkPassword: true, maxLinkSeconds: 60 };
const defaults = { allowLinks: true, requireLinkPassword: false, maxLinkSeconds: undefined };

function linkSettingsOf(settings: AccountSettings, groups: Readonly<Record<string, GroupSettings>> = {}): object {
  const known: Groups = new Map(Object.entries(groups));
  const { allowLinks, requireLinkPassword, maxLinkSeconds } = toAccount("alice", settings, known);
  return { allowLinks, requireLinkPassword, maxLinkSeconds };
}

describe("what an account may do with links", () => {
  it.each<[string, AccountSettings, Record<string, GroupSettings>, object]>([
    ["the defaults", {}, {}, defaults],
    ["its own", own, {}, effective],
    ["its group's", { group: "staff" }, { staff: own }, effective],
    ["the default group's", {}, { DEFAULT_GROUP: own }, effective],
    ["the default group's where its own has none", { group: "staff" }, { staff: {}, DEFAULT_GROUP: own }, effective],
    [
      "its own before its group's, also where that is less strict",
      { group: "staff", allow_links: true, require_link_password: false, max_link_seconds: 90 },
      { staff: own },
      { allowLinks: true, requireLinkPassword: false, maxLinkSeconds: 90 },
    ],
    [
      "its group's before the default group's, member by member",
      { group: "staff" },
      { staff: { max_link_seconds: 5 }, DEFAULT_GROUP: own },
      { ...effective, maxLinkSeconds: 5 },
    ],
    [
      "no limit with a 0 of its own",
      { group: "staff", max_link_seconds: 0 },
      { staff: { max_link_seconds: 5 } },
      defaults,
    ],
    [
      "no limit with a 0 of its group",
      { group: "staff" },
      { staff: { max_link_seconds: 0 }, DEFAULT_GROUP: { max_link_seconds: 5 } },
      defaults,
    ],
  ])("is %s (CONTRACT 7.1)", (_what, settings, groups, expected) => {
    expect(linkSettingsOf(settings, groups)).toEqual(expected);
  });

  it("is compiled anew when a setting changes", () => {
    const resolve = createAccountResolver(new Map());
    expect(resolve("alice", {}).allowLinks).toBe(true);
    expect(resolve("alice", { allow_links: false }).allowLinks).toBe(false);
  });
});

describe("the settings of links as they are configured", () => {
  it.each<[keyof typeof own, readonly unknown[]]>([
    ["allow_links", [0, 1, "true", null]],
    ["require_link_password", [0, 1, "true", null]],
    ["max_link_seconds", [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "10", null, true]],
  ])("have a %s of one type, for accounts and groups", (member, wrong) => {
    for (const schema of [accountSettingsSchema, groupSettingsSchema]) {
      expect(schema.parse({ [member]: own[member] })).toEqual({ [member]: own[member] });
      for (const value of wrong) expect(schema.safeParse({ [member]: value }).success).toBe(false);
    }
  });

  it("may stand in a configuration file, for a group and an account (CONTRACT 10)", () => {
    const account = { username: "alice", password: "secret", ...own };
    const config = { groups: { staff: own }, authentication: [{ type: "accounts", accounts: [account] }] };
    expect(configFileSchema.parse(config)).toEqual(config);
    const wrong = configFileSchema.safeParse({
      groups: { staff: { max_link_seconds: -1 } },
      authentication: [{ type: "accounts", accounts: [{ ...account, allow_links: "no" }] }],
    });
    expect(wrong.error && describeIssues(wrong.error).toSorted()).toEqual([
      "authentication[0].accounts[0].allow_links: expected boolean, received string",
      "groups.staff.max_link_seconds: must not be negative",
    ]);
  });

  it.each(Object.entries(own))("cannot come from a remote endpoint: %s (2.4)", (member, value) => {
    expect(authenticationSuccessSchema.safeParse({ account: { [member]: value } }).success).toBe(false);
  });
});
