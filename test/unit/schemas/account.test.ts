import { describe, expect, it } from "vitest";
import {
  accountSettingsSchema,
  describeAccountIssues,
  freezeAccountSettings,
  groupSettingsSchema,
  parseAccountSettings,
} from "../../../src/schemas/account.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how the configuration spells them.
const USER = "${USER}";
const SHARED = "${SHARED}";
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above.

const ALL = {
  home_folder_path: `/homes/${USER}`,
  uuid: "7b1f",
  email: "",
  group: "staff",
  create_home_folder: false,
  create_home_folder_owner: "www",
  create_home_folder_group: "www",
  home_folder_structure: ["in", "/out/new", `for-${USER}`],
  virtual_folders: [["/pub", "/data/pub"]],
  permissions: [["allow-full-control"], ["/x*", "allow-read", "allow-list"]],
};

describe("the settings of an account (2.4)", () => {
  it("are all optional", () => {
    expect(accountSettingsSchema.parse({})).toEqual({});
    expect(accountSettingsSchema.parse(ALL)).toEqual(ALL);
  });

  it.each<[string, unknown]>([
    ["an unknown key", { quota: 1 }],
    ["a key in other letters", { UUID: "7b1f" }],
    ["a key that every object has", JSON.parse('{"__proto__": {}}')],
    ["a group's key", { allow_own_password_change: true }],
    ["a null", { email: null }],
    ["undefined", { email: undefined }],
    ["a number for a text", { uuid: 5 }],
    ["a text for a boolean", { create_home_folder: "true" }],
    ["an empty identifier", { uuid: "" }],
    ["a relative home", { home_folder_path: "homes/alice" }],
    ["a home with ..", { home_folder_path: "/homes/../alice" }],
    ["a home with an empty segment", { home_folder_path: "/homes//alice" }],
    ["a home with a backslash", { home_folder_path: "/homes\\alice" }],
    ["a home with a control character", { home_folder_path: "/homes/a\u0000" }],
    ["a shared home, which is a group's", { home_folder_path: `${SHARED}/all` }],
    ["a structure with ..", { home_folder_structure: ["a/../.."] }],
    ["an empty path in the structure", { home_folder_structure: [""] }],
    ["a structure that is a text", { home_folder_structure: "in" }],
    ["a virtual folder of one path", { virtual_folders: [["/a"]] }],
    ["a virtual folder of three paths", { virtual_folders: [["/a", "/b", "/c"]] }],
    ["a relative virtual folder", { virtual_folders: [["a", "/b"]] }],
    ["a relative real path", { virtual_folders: [["/a", "b"]] }],
    ["a virtual root", { virtual_folders: [["/", "/b"]] }],
    ["an unknown permission", { permissions: [["allow-all"]] }],
    ["a permission in other letters", { permissions: [["Allow-Read"]] }],
    ["permissions that are a flat list", { permissions: ["allow-read"] }],
    ["a rule without permissions", { permissions: [[], ["*"]] }],
    ["an empty rule", { permissions: [[], []] }],
    ["a list", []],
  ])("refuses %s", (_case, settings) => {
    expect(accountSettingsSchema.safeParse(settings).success).toBe(false);
  });
});

describe("settings that were parsed before", () => {
  it("are taken as they are, because nobody can change them", () => {
    const settings = freezeAccountSettings(accountSettingsSchema.parse(structuredClone(ALL)));
    expect(parseAccountSettings(settings).data).toBe(settings);
    const parts = [settings, settings.permissions, settings.permissions?.[1], settings.virtual_folders?.[0]];
    expect(parts.filter((part) => part === undefined || !Object.isFrozen(part))).toEqual([]);
    expect(() => Object.assign(settings, { permissions: [] })).toThrow(TypeError);
  });

  it("are parsed again as part of others: an unknown member could forbid something", () => {
    const settings = freezeAccountSettings(accountSettingsSchema.parse(structuredClone(ALL)));
    const others = [{ ...settings, quota: 1 }, Object.freeze({ ...settings, uuid: "" })];
    for (const other of others) expect(parseAccountSettings(other).success).toBe(false);
  });
});

describe("the settings of a group (CONTRACT 7.1)", () => {
  it("are those of an account but its group, a shared home, and whether passwords may be changed", () => {
    const { group, ...settings } = ALL;
    const own = { ...settings, home_folder_path: `${SHARED}/all`, allow_own_password_change: false };
    expect(groupSettingsSchema.parse(own)).toEqual(own);
    expect(groupSettingsSchema.safeParse(ALL).success).toBe(false);
    expect(groupSettingsSchema.safeParse({ home_folder_path: `/all/${SHARED}/..` }).success).toBe(false);
    const wrong = groupSettingsSchema.safeParse({ home_folder_path: `${SHARED}all` });
    expect(wrong.error && describeAccountIssues(wrong.error)).toEqual([
      `home_folder_path: must be an absolute path, optionally after the prefix ${SHARED}`,
    ]);
  });
});
