import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBoundedJson } from "../../../src/http/bounded-json.ts";

const limits = { maxValues: 20, maxMembers: 8, maxNesting: 4 };
const tooMany = "the body has more than 20 values";
const tooLong = "the body has a list of more than 8 members";
const tooDeep = "the body is nested deeper than 4 levels";

describe("JSON whose values are counted before they are made", () => {
  it.each<[string, unknown]>([
    ["a value that is no list", 'a "text", with [marks]: {} \\'],
    ["8 members", [1, 2, 3, 4, 5, 6, 7, 8]],
    ["8 keys", { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 }],
    ["20 values in all", [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], {}, [], {}, { "a,b": "]," }]],
    ["4 levels", [[[[]]]]],
    ["4 levels again and again", [[[[]]], [[[]]]]],
  ])("is taken with %s, however it is written", (_what, value) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, "\t "), ` ${JSON.stringify(value)}\r\n`]) {
      expect(parseBoundedJson(text, limits)).toEqual({ value });
    }
  });

  it.each([
    ["[1,2,3,4,5,6,7,8,9]", tooLong],
    [`{${Array.from({ length: 9 }, (_, index) => `"k${index}":0`).join()}}`, tooLong],
    ['{"a":[[],[],[],[],[],[],[],[],[]]}', tooLong],
    ['{"a":"a","a":"a","a":"a","a":"a","a":"a","a":"a","a":"a","a":"a","a":"a"}', tooLong],
    [`[${"[1,2,3,4,5,6],".repeat(3)}0]`, tooMany],
    ["[[[[[]]]]]", tooDeep],
    ["[".repeat(100_000), tooDeep],
    ['{"a":'.repeat(100_000), tooDeep],
    [`[${"0,".repeat(100_000)}`, tooLong],
    [",".repeat(100_000), tooLong],
  ])("is not where it is %.20s, and nothing is made of it", (text, problem) => {
    expect(parseBoundedJson(text, limits)).toEqual({ problem, exceedsLimit: true });
  });

  it.each(["", "[", "]", "]]]]]][", '"', '"\\', "[}", "[1,]", "{]", "[ ", '["\\"]'])(
    "is no JSON where it is %j",
    (text) => {
      expect(parseBoundedJson(text, limits)).toEqual({ problem: "the body is not JSON", exceedsLimit: false });
    },
  );

  it.each(["[ ]", "{\t}", "[\n]", "{\r}", "[ \t\r\n]"])("counts nothing in %j", (text) => {
    expect(parseBoundedJson(text, { maxValues: 0, maxMembers: 1 })).toEqual({ value: JSON.parse(text) });
  });

  it("counts nothing after the start of a list", () => {
    const problem = "the body is not JSON";
    expect(parseBoundedJson("[ ", { maxValues: 0, maxMembers: 1 })).toEqual({ problem, exceedsLimit: false });
  });

  it("is counted as the values that come out of it", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, null, indent);
        const { count, longest, depth } = measure(value);
        const exact = { maxValues: count, maxMembers: Math.max(1, longest), maxNesting: depth };
        expect(parseBoundedJson(text, exact)).toEqual({ value });
        if (count > 0) expect(parseBoundedJson(text, { ...exact, maxValues: count - 1 })).toHaveProperty("problem");
        if (longest > 1)
          expect(parseBoundedJson(text, { ...exact, maxMembers: longest - 1 })).toHaveProperty("problem");
        if (depth > 0) expect(parseBoundedJson(text, { ...exact, maxNesting: depth - 1 })).toHaveProperty("problem");
      }),
    );
  });
});

/** The same by walking what was made. */
function measure(value: unknown): { readonly count: number; readonly longest: number; readonly depth: number } {
  if (typeof value !== "object" || value === null) return { count: 0, longest: 0, depth: 0 };
  const members = Object.values(value);
  const inner = members.map(measure);
  return {
    count: inner.reduce((sum, { count }) => sum + count, members.length),
    longest: Math.max(members.length, ...inner.map(({ longest }) => longest)),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}
