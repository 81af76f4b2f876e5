import { Request } from "@whatwg-node/fetch";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluatePreconditions, mayUseRange, type Precondition } from "../../../src/http/conditional.ts";
import { amount } from "../../support/trust.ts";

/** An entity-tag, as its parts. */
interface Tag {
  readonly isWeak: boolean;
  readonly opaque: string;
}
type Tags = "*" | readonly Tag[];

/** The conditions of a request, as what they say; times in whole seconds. */
interface Conditions {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly match: Tags | undefined;
  readonly noneMatch: Tags | undefined;
  readonly unmodifiedSince: number | undefined;
  readonly modifiedSince: number | undefined;
}

interface Current {
  readonly tag: Tag;
  /** Milliseconds. */
  readonly modified: number;
}

/** Few of them, so that they meet. */
const tag = fc.record({ isWeak: fc.boolean(), opaque: fc.constantFrom("", "a", "b", "a,b", "W/", " ", "*") });
const tags = fc.oneof(fc.constant("*" as const), fc.array(tag, { minLength: 1, maxLength: 4 }));
const second = fc.integer({ min: 1_700_000_000, max: 1_700_000_003 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const conditions: fc.Arbitrary<Conditions> = fc.record({
  method: fc.constantFrom("GET", "HEAD", "PUT", "DELETE"),
  match: optional(tags),
  noneMatch: optional(tags),
  unmodifiedSince: optional(second),
  modifiedSince: optional(second),
});
const current: fc.Arbitrary<Current | undefined> = optional(
  fc.record({ tag, modified: fc.tuple(second, fc.nat(999)).map(([whole, part]) => whole * 1000 + part) }),
);
/** What may stand around the elements of a list, empty ones among it (RFC 9110 5.6.1). */
const gap = fc.constantFrom(",", ", ", " ,", ",,", " , ,\t");

const NOW = 1_800_000_000_000;

/** RFC 9110 13.2.2, step by step, on what the conditions say. */
function expected(
  { method, match, noneMatch, unmodifiedSince, modifiedSince }: Conditions,
  now?: Current,
): Precondition {
  const reads = method === "GET" || method === "HEAD";
  const modified = now && Math.floor(now.modified / 1000);
  // Steps 1 and 2.
  if (match !== undefined) {
    const holds = now !== undefined && (match === "*" || match.some((one) => isSame(one, now.tag, "strongly")));
    if (!holds) return "failed";
  } else if (unmodifiedSince !== undefined && modified !== undefined && modified > unmodifiedSince) return "failed";
  // Steps 3 and 4.
  if (noneMatch !== undefined) {
    const holds = now === undefined || (noneMatch !== "*" && !noneMatch.some((one) => isSame(one, now.tag, "weakly")));
    if (!holds) return reads ? "not-modified" : "failed";
  } else if (reads && modifiedSince !== undefined && modified !== undefined && modified <= modifiedSince) {
    return "not-modified";
  }
  return "met";
}

/** RFC 9110 8.8.3.2. */
function isSame(one: Tag, other: Tag, how: "strongly" | "weakly"): boolean {
  return one.opaque === other.opaque && (how === "weakly" || (!one.isWeak && !other.isWeak));
}

function write({ isWeak, opaque }: Tag): string {
  // The characters of an entity-tag are visible ones; a blank becomes one of those.
  return `${isWeak ? "W/" : ""}"${opaque.replace(" ", "~")}"`;
}

function writeList(list: Tags, between: string): string {
  return list === "*" ? "*" : list.map(write).join(between);
}

const toDate = (seconds: number): string => new Date(seconds * 1000).toUTCString();

function toHeaders(asked: Conditions, between: string): Record<string, string> {
  const { match, noneMatch, unmodifiedSince, modifiedSince } = asked;
  return {
    ...(match !== undefined && { "if-match": writeList(match, between) }),
    ...(noneMatch !== undefined && { "if-none-match": writeList(noneMatch, between) }),
    ...(unmodifiedSince !== undefined && { "if-unmodified-since": toDate(unmodifiedSince) }),
    ...(modifiedSince !== undefined && { "if-modified-since": toDate(modifiedSince) }),
  };
}

describe("preconditions", () => {
  it("come to what RFC 9110 13.2.2 says, step by step, however the lists are written", () => {
    fc.assert(
      fc.property(conditions, current, gap, (asked, found, between) => {
        const request = new Request("http://x/", { method: asked.method, headers: toHeaders(asked, between) });
        const validators = found && { etag: write(found.tag), modified: new Date(found.modified) };
        expect(evaluatePreconditions(request, validators, NOW)).toBe(expected(asked, found));
      }),
      { numRuns: amount({ short: 800, long: 3000 }) },
    );
  });

  it("let a range count for the very version that If-Range names, and for no other (RFC 9110 13.1.5)", () => {
    const now = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_005_000 });
    fc.assert(
      fc.property(fc.oneof(tag, second), tag, now, fc.nat(3999), (named, tagOfFile, time, age) => {
        const modified = Math.min(time, 1_700_000_000_000 + age);
        const value = typeof named === "number" ? toDate(named) : write(named);
        const may =
          typeof named === "number"
            ? named === Math.floor(modified / 1000) && named * 1000 + 1000 <= time
            : isSame(named, tagOfFile, "strongly");
        const validators = { etag: write(tagOfFile), modified: new Date(modified) };
        expect(mayUseRange(new Headers({ "if-range": value }), validators, time)).toBe(may);
      }),
      { numRuns: amount({ short: 500, long: 2000 }) },
    );
  });

  it("of any text are read, or refused as malformed, and nothing else", () => {
    const text = fc.string({
      unit: fc.constantFrom('"', "W", "/", ",", " ", "a", "*", "\\", "é", "\t"),
      maxLength: 20,
    });
    fc.assert(
      fc.property(text, text, (match, noneMatch) => {
        const headers = { "if-match": match, "if-none-match": noneMatch };
        const found = { etag: '"a"', modified: new Date(0) };
        try {
          expect(["met", "failed", "not-modified"]).toContain(
            evaluatePreconditions(new Request("http://x/", { headers }), found, NOW),
          );
        } catch (error) {
          expect(error).toMatchObject({ name: "HttpError", failure: "malformed" });
        }
      }),
      { numRuns: amount({ short: 500, long: 2000 }) },
    );
  });
});
