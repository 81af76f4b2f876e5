import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilename, toAttachment } from "../../../src/http/content-disposition.ts";
import { refusalOf } from "./uploads/refusals.ts";

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

describe("the file name of a Content-Disposition (RFC 6266)", () => {
  it.each([
    ["inline", undefined],
    ["inline; x=1", undefined],
    ["inline; filename=a.txt", "a.txt"],
    ['attachment;FileName="a b.txt"', "a b.txt"],
    ["inline; filename=a; filename*=UTF-8''%C3%A4%20b", "ä b"],
    ["inline; filename*=utf-8'de'%E6%96%87; filename=a", "文"],
    ["inline; filename*=iso-8859-1''%e4", "ä"],
    ['inline; filename="a\\"b\\\\c"', 'a"b\\c'],
    ['inline; filename="a;filename=b"; x=";"', "a;filename=b"],
    ['inline; filename=""', ""],
    // The bytes of UTF-8, as a header field has them.
    ['inline; filename="\u00c3\u00a4"', "ä"],
  ])("in %j is %j", (value, name) => {
    expect(parseFilename(value)).toBe(name);
  });

  it.each([
    "",
    ";",
    "inline;",
    "inline filename=a",
    "inline; filename",
    "inline; filename=",
    "inline; filename=a b",
    'inline; filename="a',
    'inline; filename="a\\"',
    "inline; filename=a; filename=b",
    "inline; filename=a; FILENAME=b",
    "inline; filename=a, inline; filename=b",
    'inline; filename="a", inline; filename="b"',
    "inline; filename*=a",
    "inline; filename*=UTF-8''%ff; filename=a",
    "inline; filename*=koi8-r''a; filename=a",
    'inline; filename="\u00e4"',
  ])("is not in %j", async (value) => {
    expect(await refusalOf(() => parseFilename(value))).toBe("400 upload-disposition-invalid");
  });

  it("is the one that was written, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        fc.pre(!/\p{Cs}/u.test(name));
        expect(parseFilename(toAttachment(name))).toBe(name);
      }),
    );
  });
});
