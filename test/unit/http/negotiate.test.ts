import { Request } from "@whatwg-node/fetch";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { negotiateVariant, prefersArchive, type Variant } from "../../../src/http/negotiate.ts";
import { amount } from "../../support/trust.ts";

/** An element of `Accept`: a type, and its weight in thousandths. */
interface Range {
  readonly type: string;
  readonly weight: number;
}

const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html";
const weight = fc.constantFrom(0, 1, 300, 500, 999, 1000);
const other = fc.constantFrom(
  "image/png",
  "text/plain",
  "application/xml",
  "application/jsonx",
  "text/htm",
  "x/y",
  "a/json",
);
const foreign = fc.array(fc.record({ type: other, weight }), { maxLength: 5 });

function write(ranges: readonly Range[], between = ", "): string {
  return ranges.map(({ type, weight }) => (weight === 1000 ? type : `${type};q=${weight / 1000}`)).join(between);
}

function negotiate(accept: string | undefined, { method = "GET", readsFolder = true, type = "" } = {}): Variant {
  const headers = { ...(accept !== undefined && { accept }), ...(type !== "" && { "content-type": type }) };
  return negotiateVariant(new Request("http://x/home/", { method, headers }), readsFolder);
}

describe("the variant of a request (CONTRACT 1)", () => {
  it("is that of our two types that weighs more, and none that weighs nothing", () => {
    fc.assert(
      fc.property(weight, weight, fc.boolean(), (json, html, jsonFirst) => {
        fc.pre(json !== html);
        const ranges = [
          { type: JSON_TYPE, weight: json },
          { type: HTML_TYPE, weight: html },
        ];
        const accept = write(jsonFirst ? ranges : ranges.toReversed());
        for (const readsFolder of [true, false]) {
          expect([accept, negotiate(accept, { readsFolder })]).toEqual([accept, json > html ? "json" : "html"]);
        }
      }),
    );
  });

  it.each<[type: string, accept: string | undefined, method: string, readsFolder: boolean, variant: Variant]>([
    ["application/json", undefined, "PUT", false, "json"],
    ["Application/JSON ; charset=utf-8", undefined, "POST", false, "json"],
    ["application/json\t ;charset=utf-8", undefined, "POST", false, "json"],
    ["application/json\u00a0", undefined, "POST", false, "webdav"],
    ["\u00a0application/json", undefined, "POST", false, "webdav"],
    ["application/json", "*/*", "POST", false, "json"],
    ["application/json", "text/html", "POST", false, "html"],
    ["application/jsonx", undefined, "PUT", false, "webdav"],
    ["text/html", undefined, "PUT", false, "html"],
    ["text/html", "application/json", "PUT", false, "json"],
    ["text/plain", undefined, "POST", false, "webdav"],
    ["text/plain", undefined, "PUT", false, "webdav"],
    ["", undefined, "POST", false, "webdav"],
    ["multipart/form-data; boundary=B", undefined, "POST", false, "html"],
    ["multipart/form-data; boundary=B", undefined, "PUT", false, "webdav"],
    ["multipart/mixed; boundary=B", undefined, "POST", false, "webdav"],
    ["", undefined, "GET", true, "html"],
    ["", "*/*", "GET", true, "html"],
    ["", "*/*", "GET", false, "webdav"],
    ["", "application/zip", "GET", true, "webdav"],
    ["", "application/zip", "GET", false, "webdav"],
    ["", 'x/y;a="b, application/json', "GET", false, "webdav"],
    ["", 'applicatio""n/json, text/ht"x"ml', "GET", false, "webdav"],
    ["", "application/json;q =0, text/html;q=0.1", "GET", false, "html"],
  ])("that sends %j and accepts %j by %s, a folder: %s, is %s", (type, accept, method, readsFolder, variant) => {
    expect(negotiate(accept, { type, method, readsFolder })).toBe(variant);
  });

  it("asks for an archive only by naming it", () => {
    expect(prefersArchive(new Request("http://x/"))).toBe(false);
  });

  it("does not change with types that are not ours, parameters, blanks or the case of letters", () => {
    const ours = fc.array(fc.record({ type: fc.constantFrom(JSON_TYPE, HTML_TYPE, "*/*"), weight }), { maxLength: 3 });
    fc.assert(
      fc.property(
        ours,
        foreign,
        fc.nat(3),
        fc.constantFrom(",", " , ", ",\t"),
        fc.boolean(),
        (own, more, at, gap, folder) => {
          const plain = write(own);
          fc.pre(plain !== "");
          const mixed = [...own.slice(0, at), ...more, ...own.slice(at)];
          const same = write(
            mixed.map(({ type, weight }) => ({ type: `${type.toUpperCase()};charset=utf-8;x="a;q=0"`, weight })),
            gap,
          );
          expect([same, negotiate(same, { readsFolder: folder })]).toEqual([
            same,
            negotiate(plain, { readsFolder: folder }),
          ]);
        },
      ),
    );
  });

  it("is one of the three for any text, soon", () => {
    const piece = fc.constantFrom(
      "application/json",
      "text/html",
      "*/*",
      ";",
      ",",
      "q",
      "=",
      "1",
      "0.5",
      '"',
      " ",
      "é",
      "/",
    );
    fc.assert(
      fc.property(
        fc.string({ unit: piece, maxLength: 40 }),
        fc.string({ unit: piece, maxLength: 8 }),
        (accept, type) => {
          expect(["json", "webdav", "html"]).toContain(negotiate(accept, { type, method: "POST", readsFolder: false }));
        },
      ),
      { numRuns: amount({ short: 500, long: 2000 }) },
    );
  });

  it("asks for an archive where that weighs more than our others, and where it is named", () => {
    fc.assert(
      fc.property(weight, weight, foreign, (zip, json, more) => {
        fc.pre(zip !== json);
        const ranges = [...more, { type: JSON_TYPE, weight: json }, { type: "application/zip", weight: zip }];
        const request = new Request("http://x/home/", { headers: { accept: write(ranges) } });
        expect(prefersArchive(request)).toBe(zip > json);
      }),
    );
    for (const accept of ["*/*", "application/*", ""]) {
      expect([accept, prefersArchive(new Request("http://x/", { headers: { accept } }))]).toEqual([accept, false]);
    }
  });
});
