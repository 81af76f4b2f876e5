import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  readBoolean,
  readInteger,
  toBooleanItem,
  toIntegerDictionary,
} from "../../../../src/http/uploads/structured-fields.ts";

function field(name: string, ...values: readonly string[]): Headers {
  return new Headers(values.map((value): [string, string] => [name, value]));
}

function booleanOf(...values: readonly string[]): boolean | undefined {
  return readBoolean(field("Upload-Complete", ...values), "upload-complete");
}

function integerOf(...values: readonly string[]): number | undefined {
  return readInteger(field("Upload-Offset", ...values), "upload-offset");
}

describe("a Boolean (RFC 9651 3.3.6)", () => {
  it.each([
    ["?0", false],
    ["?1", true],
    [" ?1 ", true],
    ["?1;a;b=2", true],
  ])("is %j", (value, expected) => {
    expect(booleanOf(value)).toBe(expected);
  });

  it.each(["", "?", "?2", "?10", "1", "true", "?1,", "(?1)", '"?1"', "?1 ?1", "?1; A", "\u00e4"])(
    "is not %j",
    (value) => {
      expect(booleanOf(value)).toBeUndefined();
    },
  );

  it("does not come twice, and may be absent", () => {
    expect(booleanOf("?1", "?1")).toBeUndefined();
    expect(booleanOf()).toBeUndefined();
  });

  it("is read as it is written", () => {
    for (const value of [true, false]) expect(booleanOf(toBooleanItem(value))).toBe(value);
  });
});

describe("an Integer (RFC 9651 3.3.1)", () => {
  it.each([
    ["0", 0],
    ["-0", 0],
    ["007", 7],
    ["999999999999999", 999_999_999_999_999],
    ["5;a=1.0", 5],
  ])("is %j", (value, expected) => {
    expect(integerOf(value)).toBe(expected);
  });

  it.each([
    "",
    "-1",
    "1.0",
    "1.5",
    "1e3",
    "+1",
    "0x1",
    "1000000000000000",
    "1_0",
    "1 ;a",
    '"1"',
    "@1",
    "?1",
    "1,",
    "1 2",
  ])("from 0 on is not %j", (value) => {
    expect(integerOf(value)).toBeUndefined();
  });

  it("does not come twice, and may be absent", () => {
    expect(integerOf("1", "1")).toBeUndefined();
    expect(integerOf()).toBeUndefined();
  });

  it("is found in any field, or not, without an error", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."?01-;=, .a\"\\(:@%'") }), (value) => {
        const found = integerOf(value);
        if (found !== undefined) expect(Number.isSafeInteger(found) && found >= 0).toBe(true);
        booleanOf(value);
      }),
    );
  });
});

describe("a Dictionary of integers", () => {
  it("has the members that are there, in their order", () => {
    expect(toIntegerDictionary({ "max-size": 5, "max-append-size": undefined, "max-age": 0 })).toBe(
      "max-size=5, max-age=0",
    );
    expect(toIntegerDictionary({ a: undefined })).toBe("");
  });

  it("has no integer that is too large for a field", () => {
    expect(toIntegerDictionary({ a: Number.MAX_SAFE_INTEGER, b: Number.POSITIVE_INFINITY })).toBe(
      "a=999999999999999, b=999999999999999",
    );
  });
});
