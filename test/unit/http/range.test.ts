import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { guessRange, parseRanges } from "../../../src/http/range.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";

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
    ["bytes=-0", 0, "unsatisfiable"],
    ["bytes=-5", 0, undefined],
    ["bytes=5-2", 10, undefined],
    ["bytes=5-2", 3, undefined],
    ["bytes=-", 10, undefined],
    ["bytes=a-b", 10, undefined],
    ["seconds=0-1", 10, undefined],
    ["bytesx=0-1", 10, undefined],
    ["xbytes=0-1", 10, undefined],
    ["bytes=0-1=2", 10, undefined],
    ["bytes", 10, undefined],
    [null, 10, undefined],
    ["", 10, undefined],
    ["bytes=0-8999999999999", 9_000_000_000_000, { offset: 0, length: 9_000_000_000_000 }],
  ])("%s of %i bytes (RFC 9110 14.1.2)", (value, size, part) => {
    expect(parseRanges(value, size)).toEqual(typeof part === "object" ? [part] : part);
  });

  it.each([
    [
      "bytes=0-0,500-500",
      [
        [0, 1],
        [500, 1],
      ],
    ],
    [
      "bytes=500-500,0-0",
      [
        [500, 1],
        [0, 1],
      ],
    ],
    [
      "bytes=0-0, 200-, -1",
      [
        [0, 1],
        [200, 800],
      ],
    ],
    ["bytes=0-9,5-14", [[0, 15]]],
    ["bytes=0-9,90-99", [[0, 100]]],
    [
      "bytes=0-9,91-99",
      [
        [0, 10],
        [91, 9],
      ],
    ],
    [
      "bytes=500-509,0-9,300-309,505-519,20-29",
      [
        [500, 20],
        [0, 30],
        [300, 10],
      ],
    ],
    [
      "bytes=0-0,1000-,500-500",
      [
        [0, 1],
        [500, 1],
      ],
    ],
    ["bytes=1000-,2000-3000", "unsatisfiable"],
    ["bytes=0-0,x", undefined],
    ["bytes=0-0,9-5", undefined],
    ["bytes=0-999,0-0", undefined],
    ["bytes=0-,0-", undefined],
    [
      "bytes=0-0,,500-500, ,",
      [
        [0, 1],
        [500, 1],
      ],
    ],
    ["bytes=,", undefined],
    [`bytes=0-0${",".repeat(63)}`, [[0, 1]]],
    [`bytes=0-0${",".repeat(64)}`, undefined],
    [`bytes=${Array.from({ length: 16 }, (_, index) => `${60 * index}-${60 * index}`)}`, [[0, 901]]],
    [`bytes=${"0-0,".repeat(16)}1-1`, undefined],
  ])("%.60s asks of 1,000 bytes for %j (RFC 9110 14.1.2, 15.3.7.2)", (value, expected) => {
    const parts = parseRanges(value, 1000);
    expect(typeof parts === "object" ? parts.map(({ offset, length }) => [offset, length]) : parts).toEqual(expected);
  });

  it.each([
    ["bytes=0-9", 0, 10],
    ["bytes=5-", 5, 995],
    ["bytes= \t10-19", 10, 10],
    ["bytes=0-0,5-9", 0, 10],
    ["bytes=-5", undefined, undefined],
    ["bytes=0-0,500-500", undefined, undefined],
    // The end lies within the first part only where that has one.
    ["bytes=2000-,-1", undefined, undefined],
    ["bytes=2000-, \t-1", undefined, undefined],
    ["items=0-9", undefined, undefined],
    ["", undefined, undefined],
  ])("%s is foreseen without the size where it can be", (value, offset, length) => {
    const guess = guessRange(value);
    expect(guess?.offset).toBe(offset);
    if (guess !== undefined) expect(Math.min(guess.length, 1000 - guess.offset)).toBe(length);
  });

  it("never names a part beyond the end, nor an empty one (RFC 9110 14.1.2)", () => {
    const numeral = fc.oneof(
      fc.nat().map(String),
      fc.bigInt({ min: 0n }).map(String),
      fc.constantFrom("", "x", "-1", "1.5"),
    );
    fc.assert(
      fc.property(numeral, numeral, fc.nat(), (first, last, size) => {
        const parts = parseRanges(`bytes=${first}-${last}`, size);
        if (parts === undefined || parts === "unsatisfiable") return;
        const [part = { offset: 0, length: 0 }] = parts;
        expect(part.length).toBeGreaterThan(0);
        expect(part.offset).toBeGreaterThanOrEqual(0);
        expect(part.offset + part.length).toBeLessThanOrEqual(size);
        if (first !== "") expect(part.offset).toBe(Number(first));
      }),
    );
  });

  it.skipIf(areMutants)("of endless text is read in linear time (SECURITY 15)", () => {
    const elapsed = startProcessorTime();
    for (const text of ["bytes=", "bytes=0-", "bytes=0-0,", "bytes=\t"]) parseRanges(text + " 0-".repeat(100_000), 10);
    expect(elapsed()).toBeLessThan(500);
  });
});
