import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  evaluateIf,
  type IfCondition,
  type IfList,
  parseIf,
  type ResourceState,
  resourcesOf,
  tokensOf,
} from "../../../src/webdav/if-header.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";
import { codeOf, field } from "./bytes.ts";
import { IFS } from "./recorded.ts";

function parse(value: string): readonly IfList[] {
  return parseIf(field("If", value)) ?? [];
}

/** Lists in short: the URL, and the conditions, with `!` for `Not`. */
function toShort(lists: readonly IfList[]): readonly (readonly string[])[] {
  const toText = ({ value, isNegated }: IfCondition) => (isNegated ? `!${value}` : value);
  return lists.map(({ resource = "", conditions }) => [resource, ...conditions.map(toText)]);
}

describe("the If header", () => {
  it.each(Object.entries(IFS))("of %s is read", (_, [value, lists]) => {
    expect(toShort(parse(value))).toEqual(lists);
  });

  it("may be absent", () => {
    expect(parseIf(new Headers())).toBeUndefined();
  });

  it("may have blanks between its parts, or none", () => {
    const expected = [
      ["/a", "!urn:1", '"x"'],
      ["/a", "urn:2"],
    ];
    expect(toShort(parse('</a>(Not<urn:1>["x"])(<urn:2>)'))).toEqual(expected);
    expect(toShort(parse('\t</a> \t( NOT  <urn:1>\t["x"] ) ( <urn:2> )'))).toEqual(expected);
  });

  it("has all that an entity-tag may have", () => {
    expect(toShort(parse('(["a]) (<b>"] [W/""] ["\u00fc"])'.replace(" (<b>", "(<b>")))).toEqual([
      ["", '"a])(<b>"', 'W/""', '"\u00fc"'],
    ]);
  });

  it.each([
    "",
    "()",
    "(",
    ")",
    "urn:1",
    "<urn:1>",
    "</a>",
    "(<urn:1>",
    "(<urn:1>))",
    "((<urn:1>))",
    "(<urn:1>) </a>",
    "(<urn:1>) </a> (<urn:2>)",
    "</a> </b> (<urn:1>)",
    "</a> (<urn:1>) </b>",
    "<a> (<urn:1>)",
    "(</a>)",
    "(<>)",
    "(<a b:c>)",
    "(Not)",
    "(Not Not <urn:1>)",
    "Not (<urn:1>)",
    "(Notx <urn:1>)",
    "(Not(<urn:1>))",
    '("a")',
    "([a])",
    '([ "a"])',
    '(["a" ])',
    '(["a"b"])',
    '(w/["a"])',
    '([w/"a"])',
    '(["a\tb"])',
    "(<urn:1>), (<urn:2>)",
    "(<urn:1>) x",
    '["a"]',
  ])("is refused if it is %j", (value) => {
    expect(codeOf(() => parse(value))).toBe("if-invalid");
  });

  it("has at most 100 conditions and 8 KiB", () => {
    expect(parse(`(${"<urn:1>".repeat(100)})`)[0]?.conditions).toHaveLength(100);
    expect(codeOf(() => parse(`(${"<urn:1>".repeat(101)})`))).toBe("if-invalid");
    expect(codeOf(() => parse("(<urn:1>)".repeat(101)))).toBe("if-invalid");
    const padded = (size: number) => `(<urn:${"a".repeat(size - 8)}>)`;
    expect(codeOf(() => parse(padded(8192)))).toBeUndefined();
    expect(codeOf(() => parse(padded(8193)))).toBe("if-invalid");
  });

  it("is written by its parts and read again, whatever they are", () => {
    const token = fc.constantFrom("urn:uuid:1", "opaquelocktoken:2", "DAV:no-lock", "x:");
    const etag = fc.tuple(fc.constantFrom("", "W/"), fc.constantFrom("", "a", "]", ">", "(", "Not"));
    const condition: fc.Arbitrary<IfCondition> = fc.oneof(
      fc.record({ kind: fc.constant("token" as const), value: token, isNegated: fc.boolean() }),
      fc.record({
        kind: fc.constant("etag" as const),
        value: etag.map(([weak, opaque]) => `${weak}"${opaque}"`),
        isNegated: fc.boolean(),
      }),
    );
    const conditions = fc.array(condition, { minLength: 1, maxLength: 4 });
    const tagged = fc.array(fc.record({ resource: fc.constantFrom("/a", "http://b/c"), conditions }), { minLength: 1 });
    const untagged = fc.array(fc.record({ resource: fc.constant(undefined), conditions }), { minLength: 1 });
    const write = ({ kind, value, isNegated }: IfCondition) =>
      `${isNegated ? "Not " : ""}${kind === "token" ? `<${value}>` : `[${value}]`}`;
    fc.assert(
      fc.property(fc.oneof(tagged, untagged), (lists) => {
        const parts = lists.map(
          (list) => `${list.resource ? `<${list.resource}> ` : ""}(${list.conditions.map(write).join(" ")})`,
        );
        fc.pre(lists.flatMap((list) => list.conditions).length <= 100);
        expect(parse(parts.join(" "))).toEqual(lists);
      }),
    );
  });

  it
    .skipIf(areMutants)
    .each([
      `(${" ".repeat(8000)}x`,
      `(<urn:1>)${" \t".repeat(4000)}x`,
      `(["${"a".repeat(8000)}`,
      `(<${"a".repeat(8000)}`,
      "(".repeat(8000),
      "Not ".repeat(2000),
      `(${"<urn:1> ".repeat(1000)}`,
    ])("is read in linear time (SECURITY 12): %#", (value) => {
    const elapsed = startProcessorTime();
    for (let times = 0; times < 20; times++) codeOf(() => parse(value));
    expect(elapsed()).toBeLessThan(100);
  });
});

describe("what an If header is about", () => {
  const lists = parse('<http://files.example/a> (<urn:1> ["a"]) (Not <urn:2>) </b> (<urn:1> <DAV:no-lock>)');

  it("are its URLs", () => {
    expect(resourcesOf(lists)).toEqual(["http://files.example/a", "/b"]);
    expect(resourcesOf(parse("(<urn:1>) (<urn:2>)"))).toEqual([undefined]);
  });

  it("are its tokens, also under Not", () => {
    expect(tokensOf(lists)).toEqual(["urn:1", "urn:2", "DAV:no-lock"]);
  });
});

describe("the evaluation of an If header", () => {
  const STATES: Readonly<Record<string, ResourceState | "elsewhere">> = {
    "": { tokens: ["urn:1"], etag: '"a"' },
    "/locked": { tokens: ["urn:2", "urn:3"], etag: 'W/"b"' },
    "/plain": { tokens: [], etag: undefined },
    "/odd": { tokens: ["DAV:no-lock"], etag: undefined },
    "http://other/": "elsewhere",
  };
  const evaluate = (value: string) => evaluateIf(parse(value), (resource = "") => STATES[resource]);

  it.each([
    "(<urn:1>)",
    '(["a"])',
    '([W/"a"])',
    '(<urn:1> ["a"])',
    "(Not <urn:2>)",
    '(Not ["b"])',
    "(<urn:2>) (<urn:1>)",
    "(<urn:2>) (Not <DAV:no-lock>)",
    "</locked> (<urn:2> <urn:3>)",
    '</locked> ([W/"b"])',
    '</locked> (Not ["b"])',
    "</plain> (Not <urn:1>)",
    '</plain> (Not ["a"])',
    "</missing> (Not <urn:1>)",
    '</missing> (Not ["a"])',
    "</missing> (<urn:1>) </locked> (<urn:3>)",
    "<http://other/> (<urn:1>) </locked> (<urn:3>)",
  ])("holds for %s", (value) => {
    expect(evaluate(value)).toBe(true);
  });

  it.each([
    "(<urn:2>)",
    '(["b"])',
    '(<urn:1> ["b"])',
    '(<urn:2> ["a"])',
    "(Not <urn:1>)",
    '(Not ["a"])',
    '(Not [W/"a"])',
    "(<DAV:no-lock>)",
    "</odd> (<DAV:no-lock>)",
    "(<urn:1> <DAV:no-lock>)",
    '</locked> (["b"])',
    "</locked> (<urn:1>)",
    "</plain> (<urn:1>)",
    '</plain> (["a"])',
    "</missing> (<urn:1>)",
    '</missing> (["a"])',
    "<http://other/> (<urn:1>)",
    "<http://other/> (Not <urn:1>)",
  ])("does not hold for %s", (value) => {
    expect(evaluate(value)).toBe(false);
  });
});
