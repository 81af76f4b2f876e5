import { describe, expect, it } from "vitest";
import { explainPermission, OPERATIONS, type Operation, PERMISSION_VALUES } from "../../../src/index.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";

/** The general permissions where a rule does not match; they grant nothing that the rows ask for. */
const NOTHING: readonly string[] = [];
const READ = "allow-read";
const ALL = "allow-full-control";
const DENY = "deny-full-control";

/**
 * Rules, path, operation, whether it is granted, and why: the rule that matched (or none) and the value that decided
 * (or none).
 */
type Row = readonly [
  rules: readonly (readonly string[])[],
  operation: Operation,
  path: string,
  granted: boolean,
  rule: string | undefined,
  value: string | undefined,
];

describe("the general permissions", () => {
  it.each<Row>([
    [[[ALL]], "read", "/a", true, undefined, ALL],
    [[[ALL]], "delete-folder", "/a", true, undefined, ALL],
    [[[ALL]], "list", "/", true, undefined, ALL],
    [[[DENY]], "read", "/a", false, undefined, DENY],
    [[[DENY]], "list", "/", false, undefined, DENY],
    [[[ALL, DENY]], "read", "/a", false, undefined, DENY],
    [[[DENY, READ]], "read", "/a", false, undefined, DENY],
    [[[READ]], "read", "/a", true, undefined, READ],
    [[[READ]], "list", "/", false, undefined, undefined],
    [[[READ]], "write", "/a", false, undefined, undefined],
    [[["allow-list"]], "list", "/", true, undefined, "allow-list"],
    [[["allow-list"]], "traverse", "/", true, undefined, "allow-list"],
    [[["allow-list"]], "read", "/a", false, undefined, undefined],
    [[["allow-traverse"]], "traverse", "/", true, undefined, "allow-traverse"],
    [[["allow-traverse"]], "list", "/", false, undefined, undefined],
    [[["allow-write"]], "write", "/a", true, undefined, "allow-write"],
    [[["allow-write"]], "create-folder", "/a", false, undefined, undefined],
    [[["allow-write"]], "delete-file", "/a", false, undefined, undefined],
    [[["allow-write"]], "read", "/a", false, undefined, undefined],
    [[["allow-create-folder"]], "create-folder", "/a", true, undefined, "allow-create-folder"],
    [[["allow-create-folder"]], "write", "/a", false, undefined, undefined],
    [[["allow-delete-file"]], "delete-file", "/a", true, undefined, "allow-delete-file"],
    [[["allow-delete-file"]], "delete-folder", "/a", false, undefined, undefined],
    [[["allow-delete-folder"]], "delete-folder", "/a", true, undefined, "allow-delete-folder"],
    [[["allow-delete-folder"]], "delete-file", "/a", false, undefined, undefined],
    [[["allow-rename"]], "rename", "/a", true, undefined, "allow-rename"],
    [[["allow-set-attributes"]], "set-attributes", "/a", true, undefined, "allow-set-attributes"],
    [[["allow-list", READ, "allow-write"]], "write", "/a", true, undefined, "allow-write"],
    [[[]], "read", "/a", false, undefined, undefined],
    [[], "read", "/a", true, undefined, ALL],
  ])("%j: %s of %s is %s (CONTRACT 7.4)", (permissions, operation, path, granted, rule, value) => {
    expectExplained(permissions, operation, path, granted, rule, value);
  });
});

describe("the rules", () => {
  it.each<Row>([
    // The first that matches replaces the general permissions.
    [[NOTHING, ["/pub/*", READ]], "read", "/pub/a", true, "/pub/*", READ],
    [[NOTHING, ["/pub/*", READ]], "read", "/a", false, undefined, undefined],
    [[[ALL], ["/pub/*", READ]], "write", "/pub/a", false, "/pub/*", undefined],
    [[[ALL], ["/pub/*", READ]], "write", "/a", true, undefined, ALL],
    [[[ALL], ["/secret*", DENY]], "read", "/secret/a", false, "/secret*", DENY],
    [[[DENY], ["/pub/*", READ]], "read", "/pub/a", true, "/pub/*", READ],
    [[NOTHING, ["/pub/x*", DENY], ["/pub/*", READ]], "read", "/pub/xa", false, "/pub/x*", DENY],
    [[NOTHING, ["/pub/x*", DENY], ["/pub/*", READ]], "read", "/pub/a", true, "/pub/*", READ],
    [[NOTHING, ["/pub/*", READ], ["/pub/x*", DENY]], "read", "/pub/xa", true, "/pub/*", READ],
    [[NOTHING, ["/pub/*", READ], ["*", ALL]], "write", "/pub/a", false, "/pub/*", undefined],
    [[NOTHING, ["*.csv", READ, DENY]], "read", "/a.csv", false, "*.csv", DENY],
    [[NOTHING, ["*.csv", "allow-list", READ]], "read", "/a.csv", true, "*.csv", READ],
    // A folder has no trailing slash; the folder itself is not below itself.
    [[NOTHING, ["/pub", "allow-list"]], "list", "/pub/", true, "/pub", "allow-list"],
    [[NOTHING, ["/pub/", "allow-list"]], "list", "/pub", false, undefined, undefined],
    [[NOTHING, ["/pub/*", "allow-list"]], "list", "/pub", false, undefined, undefined],
    [[NOTHING, ["/pub | /pub/*", "allow-list"]], "list", "/pub", true, "/pub | /pub/*", "allow-list"],
    [[NOTHING, ["/", "allow-list"]], "list", "/", true, "/", "allow-list"],
    [[NOTHING, ["/", "allow-list"]], "list", "/pub", false, undefined, undefined],
  ])("%j: %s of %s is %s (CONTRACT 7.4)", (permissions, operation, path, granted, rule, value) => {
    expectExplained(permissions, operation, path, granted, rule, value);
  });
});

describe("a glob", () => {
  it.each<readonly [glob: string, path: string, matches: boolean]>([
    ["/a/b.csv", "/a/b.csv", true],
    ["/a/b.csv", "/a/b.csvx", false],
    ["/a/b.csv", "/x/a/b.csv", false],
    ["a/b.csv", "/a/b.csv", false],
    // Any case.
    ["/Reports/*.CSV", "/reports/A.csv", true],
    ["/stra\u00dfe", "/STRA\u00dfE", true],
    ["/\u00e9t\u00e9/*", "/\u00c9T\u00c9/a", true],
    // * is any text, / included; none as well.
    ["*", "/", true],
    ["*", "/a/b/c", true],
    ["/a*", "/a", true],
    ["/a*", "/a/b/c", true],
    ["*.csv", "/a/b/c.csv", true],
    ["*.csv", "/a/b/c.csv/d", false],
    ["/a/*/c", "/a/b/c", true],
    ["/a/*/c", "/a/b/x/c", true],
    ["/a/*/c", "/a/c", false],
    ["/*a*b*", "/xxaxxbxx", true],
    ["/*a*b*", "/xxbxxaxx", false],
    ["/ab*ba", "/aba", false],
    ["/**", "/a/b", true],
    // ? is one character, / included.
    ["/?", "/a", true],
    ["/?", "/", false],
    ["/?", "/ab", false],
    ["/a?b", "/a/b", true],
    ["/?", "/\ud83d\ude00", true],
    // Classes.
    ["/[a-c]", "/b", true],
    ["/[a-c]", "/B", true],
    ["/[a-c]", "/d", false],
    ["/[!a-c]", "/d", true],
    ["/[!a-c]", "/b", false],
    ["/[!x]", "/X", false],
    ["/[0-9][0-9]", "/42", true],
    ["/[*]", "/*", true],
    ["/[*]", "/a", false],
    ["/[?]", "/?", true],
    ["/[[]", "/[", true],
    ["/[]]", "/]", true],
    ["/[]a]", "/a", true],
    ["/[!]]", "/]", false],
    ["/[a^]", "/^", true],
    ["/[^a]", "/^", true],
    ["/[a-]", "/-", true],
    ["/a]", "/a]", true],
    // Everything else is what it is.
    ["/a.b", "/axb", false],
    ["/a+(b)|{1}$^", "/a+(b)|{1}$^", true],
    ["/a|b", "/a", false],
    // Alternatives, with blanks around the bar.
    ["/a | /b", "/a", true],
    ["/a | /b", "/b", true],
    ["/a | /b", "/c", false],
    ["/a | *.csv | /b/*", "/b/x", true],
    // A leading ! negates the whole.
    ["!/a", "/b", true],
    ["!/a", "/a", false],
    ["!/a | /b", "/b", false],
    ["!/a | /b", "/c", true],
    ["/!a", "/!a", true],
    // The same explicitly.
    ["g//a/*/", "/a/b", true],
    ["g/!/a/*/", "/a/b", false],
    ["g//a | /b/", "/b", true],
    ["g/*.CSV/", "/a.csv", true],
    // The account's name, encoded, literally.
    [`/${USER}/*`, "/a[b]%2A/x", true],
    [`/${USER}/*`, "/a[b]%2a/x", false],
    [`/${USER}/*`, "/ab%2a/x", false],
    [`/x-${USER}?`, "/x-a[b]%2A1", true],
  ])("%s matches %s: %s (CONTRACT 7.5)", (glob, path, matches) => {
    const { granted } = explainPermission(
      { username: "a[b]*", settings: { permissions: [[], [glob, "allow-read"]] } },
      path,
      "read",
    );
    expect(granted).toBe(matches);
  });
});

describe("a regular expression", () => {
  it.each<readonly [expression: string, path: string, matches: boolean]>([
    // It searches, and minds the case.
    ["m/b/", "/abc", true],
    ["m/B/", "/abc", false],
    ["m/B/i", "/abc", true],
    ["m/^b/", "/abc", false],
    ["m/^\\/ab/", "/abc", true],
    ["m/bc$/", "/abc", true],
    ["m/\\.(csv|txt)$/", "/a/b.txt", true],
    ["m/\\.(csv|txt)$/", "/a/b.txt.exe", false],
    ["m/^\\/20\\d\\d\\//", "/2018/a", true],
    // e excludes.
    ["e/b/", "/abc", false],
    ["e/b/", "/xyz", true],
    ["e/B/", "/abc", true],
    ["e/B/i", "/abc", false],
    // The last / ends it: others need no escape.
    ["m/^/a/b/", "/a/b/c", true],
    ["m/^/a/b$/i", "/A/B", true],
    // The account's name, encoded, literally.
    [`m/^/${USER}$/`, "/a[b]%2A", true],
    [`m/^/${USER}$/`, "/ab%2A", false],
    [`m/^/${USER}$/`, "/a", false],
    [`e/^/${USER}(/|$)/`, "/other", true],
  ])("%s matches %s: %s (CONTRACT 7.5)", (expression, path, matches) => {
    const { granted } = explainPermission(
      { username: "a[b]*", settings: { permissions: [[], [expression, "allow-read"]] } },
      path,
      "read",
    );
    expect(granted).toBe(matches);
  });
});

describe("permissions that are an error", () => {
  it.each<readonly [string, readonly (readonly string[])[], string]>([
    ["an unknown value", [["allow-all"]], "permissions[0]: is not a known permission"],
    ["a value in other letters", [["Allow-Read"]], "permissions[0]: is not a known permission"],
    ["a name of every object", [["constructor"]], "permissions[0]: is not a known permission"],
    ["an unknown value in a rule", [[], ["*", "allow-all"]], "permissions[1]: is not a known permission"],
    ["a rule without permissions", [[], ["*"]], "permissions[1]: a rule needs permissions"],
    ["an empty rule", [[], []], "permissions[1]: a rule needs permissions"],
    ["an empty glob", [[], ["", READ]], "permissions[1]: the glob, or an alternative in it, is empty"],
    ["a negated nothing", [[], ["!", READ]], "permissions[1]: the glob, or an alternative in it, is empty"],
    ["an empty alternative", [[], ["/a |  | /b", READ]], "permissions[1]: the glob, or an alternative in it, is empty"],
    ["an open class", [[], ["/a", READ], ["/[a", READ]], "permissions[2]: the glob has a class without its end"],
    ["an empty class", [[], ["/[]", READ]], "permissions[1]: the glob has a class without its end"],
    ["a range the wrong way round", [[], ["/[z-a]", READ]], "permissions[1]: the expression is not valid"],
    ["an open expression", [[], ["m/a", READ]], "permissions[1]: the expression has no closing slash"],
    ["an open glob", [[], ["g/a", READ]], "permissions[1]: the expression has no closing slash"],
    ["an unknown flag", [[], ["m/a/g", READ]], "permissions[1]: what follows the last slash is not i"],
    ["a flag on a glob", [[], ["g/a/i", READ]], "permissions[1]: what follows the last slash is not i"],
    ["an empty expression", [[], ["m//", READ]], "permissions[1]: the regular expression is empty"],
    ["an invalid expression", [[], ["m/(/", READ]], "permissions[1]: the expression is not valid"],
    [
      "a back reference, which takes no linear time",
      [[], ["m/(a)\\1/", READ]],
      "permissions[1]: the expression is not valid",
    ],
    ["a look-ahead, likewise", [[], ["m/(?=a)/", READ]], "permissions[1]: the expression is not valid"],
    [
      "an expression too large",
      [[], ["m/(?:a?){1000}a{1000}/", READ]],
      "permissions[1]: the expressions have more than 2000 steps in total",
    ],
  ])("%s (CONTRACT 7.4, 7.5)", (_case, permissions, message) => {
    const explain = () => explainPermission({ username: "alice", settings: { permissions } }, "/", "read");
    expect(explain).toThrow(TypeError);
    expect(explain).toThrow(message);
  });
});

describe("explainPermission", () => {
  it.each(OPERATIONS)("names the values that would grant %s where none does", (operation) => {
    const { missing, granted } = explainPermission({ username: "a", settings: { permissions: [[]] } }, "/a", operation);
    expect(granted).toBe(false);
    for (const value of PERMISSION_VALUES) {
      const grants = explainPermission(
        { username: "a", settings: { permissions: [[value]] } },
        "/a",
        operation,
      ).granted;
      expect(missing.includes(value)).toBe(grants);
    }
  });

  it("takes the groups into account, as the service does (CONTRACT 7.1)", () => {
    const groups = { staff: { permissions: [[], [`/${USER}/*`, "allow-write"]] } };
    const account = { username: "alice", settings: { group: "staff" }, groups };
    expect(explainPermission(account, "/alice/a", "write")).toEqual({
      granted: true,
      rule: `/${USER}/*`,
      value: "allow-write",
      missing: [],
    });
    expect(explainPermission(account, "/bob/a", "write").granted).toBe(false);
  });

  it("needs no settings: full control is the default", () => {
    expect(explainPermission({ username: "alice" }, "/a", "write")).toEqual({ granted: true, value: ALL, missing: [] });
  });

  it.each(["", "a", "//", "/a//b", "/a/../b", "/."])("throws TypeError for the path %j", (path) => {
    expect(() => explainPermission({ username: "alice" }, path, "read")).toThrow(TypeError);
  });

  it("throws TypeError for an unknown operation and an unknown group", () => {
    expect(() => explainPermission({ username: "alice" }, "/", "delete" as Operation)).toThrow(/^operation: /);
    expect(() => explainPermission({ username: "alice", settings: { group: "x" } }, "/", "read")).toThrow(/^group: /);
  });
});

function expectExplained(
  permissions: readonly (readonly string[])[],
  operation: Operation,
  path: string,
  granted: boolean,
  rule: string | undefined,
  value: string | undefined,
): void {
  const explained = explainPermission({ username: "alice", settings: { permissions } }, path, operation);
  expect([explained.granted, explained.rule, explained.value]).toEqual([granted, rule, value]);
  expect(explained.missing.length > 0).toBe(value === undefined);
}
