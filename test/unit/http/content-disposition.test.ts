import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toAttachment } from "../../../src/http/content-disposition.ts";

describe("a Content-Disposition", () => {
  it.each([
    ["a.txt", 'filename="a.txt"', "UTF-8''a.txt"],
    ["a b.txt", 'filename="a b.txt"', "UTF-8''a%20b.txt"],
    ['a"b\\c%d', 'filename="a_b_c_d"', "UTF-8''a%22b%5Cc%25d"],
    ["caf\u00e9.txt", 'filename="caf_.txt"', "UTF-8''caf%C3%A9.txt"],
    ["\u4f60\u597d.txt", 'filename="_.txt"', "UTF-8''%E4%BD%A0%E5%A5%BD.txt"],
    ["it's (1)*", 'filename="it\'s (1)*"', "UTF-8''it%27s%20%281%29%2A"],
  ])("names %j in both forms (CONTRACT 3.2, RFC 6266)", (name, plain, extended) => {
    expect(toAttachment(name)).toBe(`attachment; ${plain}; filename*=${extended}`);
  });

  it("is ASCII, well-formed and exact for every name (SECURITY 20)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        fc.pre(!/\p{Cs}/u.test(name));
        const value = toAttachment(name);
        expect(value).toMatch(
          /^attachment; filename="[ !#-[\]-~]*"; filename\*=UTF-8''(?:[\w!#$&+.^`|~-]|%[\dA-F]{2})*$/,
        );
        expect(decodeURIComponent(/UTF-8''(.*)$/.exec(value)?.[1] ?? "?")).toBe(name);
      }),
    );
  });
});
