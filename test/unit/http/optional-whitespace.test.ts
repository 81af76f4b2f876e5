import { describe, expect, it } from "vitest";
import { trimOptionalWhitespace } from "../../../src/http/optional-whitespace.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";

describe("optional whitespace (RFC 9110 5.6.3)", () => {
  it.each([
    ["", ""],
    [" ", ""],
    ["\t \t", ""],
    ["a", "a"],
    [" \ta", "a"],
    ["a\t ", "a"],
    ["  a \t b\t", "a \t b"],
  ])("around %j is removed: %j", (text, trimmed) => {
    expect(trimOptionalWhitespace(text)).toBe(trimmed);
  });

  it.each(["\ufeff", "\u00a0", "\u2003", "\u2028", "\u3000", "\v", "\f", "\r", "\n", "\0"])(
    "is not %j, which belongs to the text",
    (character) => {
      const text = `${character}a ${character}`;
      expect(trimOptionalWhitespace(` ${text}\t`)).toBe(text);
      expect(trimOptionalWhitespace(character)).toBe(character);
    },
  );

  it.skipIf(areMutants)("is removed in linear time (SECURITY 12)", () => {
    const blanks = " ".repeat(200_000);
    const elapsed = startProcessorTime();
    expect(trimOptionalWhitespace(`${blanks}a${blanks}b${blanks}`)).toBe(`a${blanks}b`);
    expect(elapsed()).toBeLessThan(100);
  });
});
