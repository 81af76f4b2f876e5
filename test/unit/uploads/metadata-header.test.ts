import { describe, expect, it } from "vitest";
import { parseMetadataFields } from "../../../src/uploads/metadata-fields.ts";
import { readMetadata } from "../../../src/uploads/metadata-header.ts";
import { startProcessorTime } from "../../support/processor-time.ts";

function read(value: string | undefined, fields = "X-Labels") {
  return readMetadata(new Headers(value === undefined ? {} : { "X-Labels": value }), parseMetadataFields(fields));
}

/** As a header carries it: each byte of its UTF-8 as one character. */
function toBytes(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

describe("the header of an upload's metadata", () => {
  it.each<[string, string, Record<string, string[]>]>([
    ["one item", "project=a", { project: ["a"] }],
    ["several", "project=a,owner=b", { project: ["a"], owner: ["b"] }],
    ["a key twice has both values, in their order", "project=b, project=a", { project: ["b", "a"] }],
    ["blanks around items are left out", " project=a \t,  owner=b  ", { project: ["a"], owner: ["b"] }],
    ["blanks within stay", "project= a b ", { project: [" a b"] }],
    ["a quoted item may hold commas", '"project=a, b",owner=c', { project: ["a, b"], owner: ["c"] }],
    ["also after a blank", 'owner=c , "project=a,b" ', { owner: ["c"], project: ["a,b"] }],
    ["two quotation marks in it are one", '"project=say ""yes"""', { project: ['say "yes"'] }],
    ["blanks in quotation marks stay", '" project = a "', { " project ": [" a "] }],
    ["a value may be empty", "project=", { project: [""] }],
    ["and hold equals signs", "query=a=b=c", { query: ["a=b=c"] }],
    ["an empty header has none", "", {}],
    ["it is UTF-8", toBytes("städte=köln,город=москва"), { städte: ["köln"], город: ["москва"] }],
    [
      "names of an object's own are as others",
      "__proto__=a,constructor=b",
      JSON.parse('{"__proto__":["a"],"constructor":["b"]}'),
    ],
  ])("%s (4.4, RFC 4180)", (_name, value, expected) => {
    const found = read(value);
    expect(Object.entries(found ?? {})).toEqual(Object.entries(expected));
  });

  it.each([
    ["an item without equals sign", "project"],
    ["one among others", "project=a,owner"],
    ["an empty item", "project=a,,owner=b"],
    ["an empty item at the end", "project=a,"],
    ["an empty item at the begin", ",project=a"],
    ["a comma alone", ","],
    ["no key", "=a"],
    ["an open quotation mark", '"project=a'],
    ["a quotation mark within", 'project="a"'],
    ["text after a quoted item", '"project=a"b'],
    ["bytes that are no UTF-8", "project=\u00ff"],
  ])("is refused with %s: 400", (_name, value) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ failure: "malformed" }));
  });

  it("is read in time that grows with its length alone", () => {
    const elapsed = startProcessorTime();
    for (const value of [
      `"${'""'.repeat(8000)}`,
      `${" \t".repeat(8000)}x`,
      `a=${" ".repeat(16_000)}b`,
      `a=b,${" ".repeat(16_000)}x"`,
      `${"a=b, ".repeat(4000)}"`,
      '",'.repeat(8000),
    ]) {
      try {
        read(value);
      } catch {
        // Refused or not, without delay.
      }
    }
    expect(elapsed()).toBeLessThan(200);
  });
});

describe("expected keys", () => {
  const fields = "X-Labels required\nproject required\nteam-* required\nowner optional";

  it("are there", () => {
    expect(read("project=a,team-x=b", fields)).toEqual({ project: ["a"], "team-x": ["b"] });
  });

  it.each<[string, string | undefined, string]>([
    ["a header that must be there", undefined, "The header X-Labels is missing."],
    ["a key that must be there", "team-x=b", "The header X-Labels does not have the key project."],
    ["a key of a kind that must be there", "project=a,team=b", "The header X-Labels does not have the key team-*."],
    ["a key that no line names", "project=a,team-x=b,color=red", "The header X-Labels has an unexpected key."],
    ["a key in other letters", "project=a,team-x=b,Owner=c", "The header X-Labels has an unexpected key."],
  ])("are asked for: %s", (_name, value, message) => {
    expect(() => read(value, fields)).toThrow(expect.objectContaining({ failure: "malformed", message }));
  });

  it("are not asked for without an optional header (CONTRACT 5)", () => {
    expect(read(undefined, "X-Labels\nproject required")).toBeUndefined();
    expect(() => read("owner=a", "X-Labels\nproject required")).toThrow("does not have the key project");
  });
});
