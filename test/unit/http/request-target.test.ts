import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecure, parseTarget } from "../../../src/http/request-target.ts";

describe("a request's URL", () => {
  it.each([
    ["http://h/home/a", "/home/a", "", false],
    ["http://h:80/home/a?x=1&y=%2F", "/home/a", "x=1&y=%2F", false],
    ["http://h/a/../b/./c", "/a/../b/./c", "", false],
    ["http://h/%2e%2e/%2E", "/%2e%2e/%2E", "", false],
    ["http://h//a//b", "//a//b", "", false],
    ["http://h/a\\b", "/a\\b", "", false],
    ["http://h", "/", "", false],
    ["file:///a", "/a", "", false],
    ["http://h?x", "/", "x", false],
    ["http://h/?", "/", "", false],
    ["http://h/a?b?c", "/a", "b?c", false],
    ["http://h/a#b", "/a#b", "", true],
    ["http://h/a?b#c", "/a", "b#c", true],
    ["http://h/a#b?c", "/a#b", "c", true],
    ["http://u:p@h/a", "/a", "", false],
    ["http://[::1]:8080/a", "/a", "", false],
    ["/home/a?x", "/home/a", "x", false],
    ["http://h/http://x/y", "/http://x/y", "", false],
    ["https://h/a b", "/a b", "", true],
    ["https://h/a?\u00e9", "/a", "\u00e9", true],
    ["", "/", "", false],
  ])(
    "%s is cut apart as text, without resolving anything (CONTRACT 2.1, SECURITY 1)",
    (url, path, query, isMalformed) => {
      expect(parseTarget(url)).toEqual({ path, query, isMalformed });
    },
  );

  it("never makes it throw (SECURITY 11)", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (url) => typeof parseTarget(url).path === "string"));
  });

  it.each([
    ["https://h/", true],
    ["HTTPS://h/", true],
    ["http://h/", false],
    ["http://h/?https://", false],
  ])("%s says whether it came over TLS: %s (CONTRACT 6.3)", (url, secure) => {
    const request = { url } as Request;
    expect(isSecure(request, {})).toBe(secure);
    expect([isSecure(request, { isSecure: true }), isSecure(request, { isSecure: false })]).toEqual([true, false]);
  });
});
