import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeSegment, isMemberName } from "../../../src/http/path-segment.ts";

describe("a segment of a URL's path", () => {
  it.each([
    ["", ""],
    ["a", "a"],
    ["%61", "a"],
    ["%2561", "%61"],
    ["a+b", "a+b"],
    ["%20", " "],
    ["%C3%A9", "\u00e9"],
    ["%c3%a9", "\u00e9"],
    ["%F0%9F%98%80", "\u{1f600}"],
    ["%2f", "/"],
    ["%00", "\0"],
    ["%EF%BB%BFa", "\ufeffa"],
    ["%", undefined],
    ["%4", undefined],
    ["%gg", undefined],
    ["%ff", undefined],
    ["%c0%af", undefined],
    ["%ed%a0%80", undefined],
    ["%f4%90%80%80", undefined],
    ["\u00e9", undefined],
    ["a b", undefined],
    ["\n", undefined],
  ])("%j is decoded once, strictly (CONTRACT 2.1, SECURITY 1)", (raw, decoded) => {
    expect(decodeSegment(raw)).toBe(decoded);
  });

  it("turns the encoding of any name back into the name (SECURITY 3)", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (name) => decodeSegment(encodeURIComponent(name)) === name));
  });
});

describe("a member's name", () => {
  it.each(["a", " ", "...", "..a", "a.", "%", "a:b", "*", "\u00a0", "\ufffd", "\u{1f600}", "__proto__", "~"])(
    "may be %j (CONTRACT 2.1)",
    (name) => {
      expect(isMemberName(name)).toBe(true);
    },
  );

  it.each([
    "",
    ".",
    "..",
    "/",
    "a/b",
    "\\",
    "a\\b",
    "\0",
    "a\n",
    "\t",
    "\u007f",
    "\u0080",
    "\u009f",
    "\ud800",
    "a\udc00",
  ])("is never %j (CONTRACT 2.1, 2.2)", (name) => {
    expect(isMemberName(name)).toBe(false);
  });
});
