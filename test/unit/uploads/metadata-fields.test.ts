import { describe, expect, it } from "vitest";
import { type MetadataFields, parseMetadataFields } from "../../../src/uploads/metadata-fields.ts";

/** The rules without their functions. */
function parse(fields: MetadataFields | string) {
  const { keys, ...rules } = parseMetadataFields(fields);
  return { ...rules, ...(keys && { keys: keys.map(({ name, isRequired }) => [name, isRequired]) }) };
}

describe("metadata_fields", () => {
  it.each<[string, MetadataFields | string, ReturnType<typeof parse>]>([
    ["the simple form: a header", "X-Labels", { header: "X-Labels", isRequired: false }],
    ["blanks around", "  X-Labels \n", { header: "X-Labels", isRequired: false }],
    ["a header that is required", "X-Labels required", { header: "X-Labels", isRequired: true }],
    ["a header that is optional", "X-Labels\toptional", { header: "X-Labels", isRequired: false }],
    [
      "the list form",
      "X-Labels required\nproject required\nowner optional\nproject-* optional",
      {
        header: "X-Labels",
        isRequired: true,
        keys: [
          ["project", true],
          ["owner", false],
          ["project-*", false],
        ],
      },
    ],
    [
      "the list form with commas",
      "x-labels\ntag, required\nproject-* ,optional",
      {
        header: "x-labels",
        isRequired: false,
        keys: [
          ["tag", true],
          ["project-*", false],
        ],
      },
    ],
    [
      "a first line without either is optional",
      "X-Labels\n\n  owner   required  \r\n",
      { header: "X-Labels", isRequired: false, keys: [["owner", true]] },
    ],
    ["an object", { header: "X-Labels" }, { header: "X-Labels", isRequired: false }],
    [
      "an object with keys",
      { header: "X-Labels", required: true, keys: [{ name: "a", required: true }, { name: "*" }] },
      {
        header: "X-Labels",
        isRequired: true,
        keys: [
          ["a", true],
          ["*", false],
        ],
      },
    ],
    ["an object that expects no key", { header: "X", keys: [] }, { header: "X", isRequired: false, keys: [] }],
  ])("%s (4.4, CONTRACT 5)", (_name, fields, expected) => {
    expect(parse(fields)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ["nothing", ""],
    ["blank lines", " \n\n"],
    ["no header's name", "X Labels"],
    ["a colon", "X-Labels:"],
    ["another word", "X-Labels mandatory"],
    ["a word too many", "X-Labels required optional"],
    ["a key without either", "X-Labels\nowner"],
    ["a key twice", "X-Labels\nowner required\nowner optional"],
    ["a star within", "X-Labels\npro*ject required"],
    ["two stars", "X-Labels\nproject** optional"],
    ["a number", 7],
    ["null", null],
    ["a comma in a key's name", { header: "X", keys: [{ name: "a,b" }] }],
    ["two commas", "X-Labels\nowner,, required"],
    ["a header of secrets", "Authorization"],
    ["the header of sessions", { header: "cookie" }],
    ["an object without a header", { keys: [] }],
    ["an unknown member", { header: "X", key: "a" }],
    ["a key that is text", { header: "X", keys: ["a"] }],
    ["a key with an empty name", { header: "X", keys: [{ name: "" }] }],
    ["a key with an unknown member", { header: "X", keys: [{ name: "a", optional: true }] }],
    ["required that is text", { header: "X", required: "true" }],
  ])("is refused: %s", (_name, fields) => {
    expect(() => parseMetadataFields(fields as string)).toThrow(/^The option metadataFields must /);
  });

  it.each([
    ["X-Labels\nowner", 'lines with "required" or "optional" after every key; owner has neither'],
    ["Authorization", "the name of a header without secrets, not Authorization"],
  ])("says what is wrong with %j", (fields, expected) => {
    expect(() => parseMetadataFields(fields)).toThrow(`The option metadataFields must be ${expected}.`);
  });

  it("matches keys exactly, or by their begin", () => {
    const { keys = [] } = parseMetadataFields("X\nproject optional\nproject-* optional\n* optional");
    const matches = (key: string) => keys.map((rule) => rule.matches(key));
    expect(matches("project")).toEqual([true, false, true]);
    expect(matches("project-")).toEqual([false, true, true]);
    expect(matches("project-x")).toEqual([false, true, true]);
    expect(matches("Project")).toEqual([false, false, true]);
  });
});
