import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRange } from "../../../src/http/range.ts";

describe("a Range value", () => {
  it.each([
    ["bytes=0-0", 10, { offset: 0, length: 1 }],
    ["bytes=0-9", 10, { offset: 0, length: 10 }],
    ["bytes=3-", 10, { offset: 3, length: 7 }],
    ["bytes=3-99", 10, { offset: 3, length: 7 }],
    ["bytes=-3", 10, { offset: 7, length: 3 }],
    ["bytes=-99", 10, { offset: 0, length: 10 }],
    ["bytes=10-", 10, "unsatisfiable"],
    ["bytes=10-20", 10, "unsatisfiable"],
    ["bytes=-0", 10, "unsatisfiable"],
    ["bytes=0-", 0, "unsatisfiable"],
    ["bytes=5-2", 10, undefined],
    ["bytes=5-2", 3, undefined],
    ["bytes=-", 10, undefined],
    ["bytes=a-b", 10, undefined],
    ["bytes=0-0,1-1", 10, undefined],
    ["seconds=0-1", 10, undefined],
    [null, 10, undefined],
    ["", 10, undefined],
    ["bytes=0-8999999999999", 9_000_000_000_000, { offset: 0, length: 9_000_000_000_000 }],
  ])("%s of %i bytes (RFC 9110 14.1.2)", (value, size, part) => {
    expect(parseRange(value, size)).toEqual(part);
  });

  it("never names a part beyond the end, nor an empty one (RFC 9110 14.1.2)", () => {
    const numeral = fc.oneof(
      fc.nat().map(String),
      fc.bigInt({ min: 0n }).map(String),
      fc.constantFrom("", "x", "-1", "1.5"),
    );
    fc.assert(
      fc.property(numeral, numeral, fc.nat(), (first, last, size) => {
        const part = parseRange(`bytes=${first}-${last}`, size);
        if (part === undefined || part === "unsatisfiable") return;
        expect(part.length).toBeGreaterThan(0);
        expect(part.offset).toBeGreaterThanOrEqual(0);
        expect(part.offset + part.length).toBeLessThanOrEqual(size);
        if (first !== "") expect(part.offset).toBe(Number(first));
      }),
    );
  });

  it("of endless text is read in linear time (SECURITY 15)", () => {
    const started = performance.now();
    for (const text of ["bytes=", "bytes=0-", "bytes=0-0,", "bytes=\t"]) parseRange(text + " 0-".repeat(100_000), 10);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
