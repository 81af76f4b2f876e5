import { describe, expect, it } from "vitest";
import {
  evaluatePreconditions,
  isConditionalChange,
  mayUseRange,
  parseEntityTags,
  type Validators,
} from "../../../src/http/conditional.ts";
import { createError } from "../../../src/http/errors.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";

const modified = new Date(Date.UTC(2024, 4, 6, 7, 8, 9, 500));
const now = modified.getTime() + 60_000;
const strong: Validators = { etag: '"a"', modified };
const weak: Validators = { etag: 'W/"a"', modified };

function evaluate(headers: Record<string, string>, current: Validators | undefined, method = "GET"): string {
  return evaluatePreconditions(new Request("http://h/", { method, headers }), current, now);
}

describe("a list of entity-tags", () => {
  it.each([
    ["*", "*"],
    [" * ", "*"],
    ['"a"', ['"a"']],
    ['W/"a"', ['W/"a"']],
    ['"a","b"', ['"a"', '"b"']],
    ['"a" , W/"b"\t,"c"', ['"a"', 'W/"b"', '"c"']],
    ['"a",,"b",', ['"a"', '"b"']],
    ['""', ['""']],
    ['"a, b"', undefined],
    ['"a,b"', ['"a,b"']],
    ['"\u00e9"', ['"\u00e9"']],
    ["a", undefined],
    ['"a', undefined],
    ['"a""b"', undefined],
    ['"a" "b"', undefined],
    ['w/"a"', undefined],
    ['W/ "a"', undefined],
    ['*, "a"', undefined],
    ["'a'", undefined],
    ["\u00a0*", undefined],
    ['"a"\u00a0', undefined],
  ])("%j is %j (RFC 9110 8.8.3, 13.1.1)", (value, tags) => {
    const read = () => parseEntityTags(new Headers({ "if-match": value }), "if-match");
    const failure = createError("entity-tags-invalid", { values: { header: "if-match" } });
    if (tags === undefined) expect(read).toThrow(failure);
    else expect(read()).toEqual(tags);
  });

  // Long enough to show a pattern that backtracks, short enough to end where it does.
  it.skipIf(areMutants).each([
    ["many tags", `${'"a", '.repeat(20_000)}x`],
    ["many empty members", `"a"${", ".repeat(25)}x`],
    ["many blanks", `"a"${" ".repeat(20_000)}x`],
    ["many tags without commas", `${'"a" '.repeat(20_000)}x`],
  ])("is refused in linear time with %s (SECURITY 12)", (_what, value) => {
    const elapsed = startProcessorTime();
    expect(() => parseEntityTags(new Headers({ "if-match": value }), "if-match")).toThrow(HttpError);
    expect(elapsed()).toBeLessThan(100);
  });
});

describe("preconditions", () => {
  it.each<readonly [headers: Record<string, string>, current: Validators | undefined, method: string, outcome: string]>(
    [
      [{}, strong, "GET", "met"],
      [{}, undefined, "PUT", "met"],
      [{ "if-match": "*" }, undefined, "PUT", "failed"],
      [{ "if-match": "*" }, weak, "PUT", "met"],
      [{ "if-match": 'W/"a"' }, weak, "PUT", "failed"],
      [{ "if-match": '"a"' }, weak, "PUT", "failed"],
      [{ "if-none-match": '"a"' }, weak, "GET", "not-modified"],
      [{ "if-none-match": '"a"' }, weak, "PUT", "failed"],
      [{ "if-none-match": "*" }, undefined, "PUT", "met"],
      [{ "if-none-match": "*" }, strong, "HEAD", "not-modified"],
      [{ "if-none-match": "*" }, strong, "DELETE", "failed"],
      [{ "if-unmodified-since": "Mon, 06 May 2024 07:08:09 GMT" }, strong, "GET", "met"],
      [{ "if-unmodified-since": "Mon, 06 May 2024 07:08:08 GMT" }, strong, "GET", "failed"],
      [{ "if-unmodified-since": "Mon, 06 May 2024 07:08:08 GMT" }, undefined, "PUT", "met"],
      [{ "if-modified-since": "Mon, 06 May 2024 07:08:09 GMT" }, strong, "HEAD", "not-modified"],
      [{ "if-modified-since": "Mon, 06 May 2024 07:08:09 GMT" }, strong, "PUT", "met"],
      [{ "if-modified-since": "Mon, 06 May 2024 07:08:09 GMT" }, undefined, "GET", "met"],
      [{ "if-modified-since": "yesterday", "if-unmodified-since": "yesterday" }, strong, "GET", "met"],
    ],
  )("%j come to the outcome of RFC 9110 13.2.2", (headers, current, method, outcome) => {
    expect(evaluate(headers, current, method)).toBe(outcome);
  });
});

it.each<readonly [headers: Record<string, string>, isConditional: boolean]>([
  [{ "if-match": "*" }, true],
  [{ "if-none-match": "*" }, true],
  [{ "if-unmodified-since": "" }, true],
  [{ "if-modified-since": "Mon, 06 May 2024 07:08:09 GMT", "if-range": '"a"' }, false],
  [{}, false],
])("a change with %j has a condition: %s (RFC 9110 13.1)", (headers, isConditional) => {
  expect(isConditionalChange(new Request("http://h/", { method: "PUT", headers }))).toBe(isConditional);
});

describe("If-Range", () => {
  it.each([
    [null, strong, true],
    ['"a"', strong, true],
    ['"b"', strong, false],
    ['"a"', weak, false],
    ['W/"a"', weak, false],
    ["Mon, 06 May 2024 07:08:09 GMT", strong, true],
    ["Monday, 06-May-24 07:08:09 GMT", strong, true],
    ["Mon, 06 May 2024 07:08:10 GMT", strong, false],
    ["", strong, false],
    ['\u00a0"a"', strong, false],
    ["Mon, 06 May 2024 07:08:09 GMT\u00a0", strong, false],
  ])("%j lets a range count: %j, %s (RFC 9110 13.1.5)", (value, current, counts) => {
    const headers = new Headers(value === null ? {} : { "if-range": value });
    expect(mayUseRange(headers, current, now)).toBe(counts);
  });

  it("lets a date count from a second after it on (RFC 9110 8.8.2.2)", () => {
    const date = Date.UTC(2024, 4, 6, 7, 8, 9);
    const headers = new Headers({ "if-range": "Mon, 06 May 2024 07:08:09 GMT" });
    expect([999, 1000].map((later) => mayUseRange(headers, strong, date + later))).toEqual([false, true]);
  });
});
