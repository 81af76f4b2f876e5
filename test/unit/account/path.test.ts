import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseResourcePath, toServerPath, toStoragePath, toUrlPath } from "../../../src/account/path.ts";
import { isMemberName } from "../../../src/http/path-segment.ts";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter(isMemberName);

describe("a path below /home/", () => {
  it.each([
    ["", [], true],
    ["a", ["a"], false],
    ["a/", ["a"], true],
    ["a/b%20c/%C3%A9", ["a", "b c", "\u00e9"], false],
    ["%252e%252e", ["%2e%2e"], false],
  ])("%j has these segments (1.3, CONTRACT 2.1)", (raw, segments, isFolder) => {
    expect(parseResourcePath(raw)).toEqual({ segments, isFolder });
  });

  it.each(["/", "//", "a//b", "a//", ".", "./", "..", "a/..", "%2e%2e/", "a%2fb", "%5c", "%00", "%ff", "%"])(
    "%j is none (CONTRACT 2.1)",
    (raw) => {
      expect(parseResourcePath(raw)).toBeUndefined();
    },
  );

  it("is parsed back from its URL for all names (SECURITY 3)", () => {
    fc.assert(
      fc.property(fc.array(name), fc.boolean(), (segments, asFolder) => {
        const path = { segments, isFolder: asFolder || segments.length === 0 };
        const url = toUrlPath(path);
        expect(url).toMatch(/^[!-~]*$/);
        expect(parseResourcePath(url)).toEqual(path);
      }),
    );
  });

  it("has one storage path, and no two have the same (SECURITY 1)", () => {
    fc.assert(
      fc.property(fc.array(name), fc.array(name), (one, other) => {
        expect(toStoragePath(one) === toStoragePath(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });
});

describe("a Server-Path", () => {
  it.each([
    [[], "/"],
    [["a", "b"], "/a/b"],
    [["100%"], "/100%25"],
    [["caf\u00e9"], "/caf%C3%A9"],
    [["\u{1f600}"], "/%F0%9F%98%80"],
    [["a?b#c"], "/a?b#c"],
  ])("of %j is %s (CONTRACT 2.4)", (segments, text) => {
    expect(toServerPath(segments)).toBe(text);
  });

  it("is printable ASCII and different for every path (CONTRACT 2.4)", () => {
    fc.assert(
      fc.property(fc.array(name), (segments) => {
        const text = toServerPath(segments);
        expect(text).toMatch(/^\/[!-~]*$/);
        expect(decodeURIComponent(text)).toBe(toStoragePath(segments));
      }),
    );
  });
});
