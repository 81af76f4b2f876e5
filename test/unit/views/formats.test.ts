import { describe, expect, it } from "vitest";
import { formatsOf } from "../../../src/views/formats.ts";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";

describe("formatsOf", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1 kB"],
    [1536, "1.54 kB"],
    [999_999, "1,000 kB"],
    [1_000_000, "1 MB"],
    [5_368_709_120, "5.37 GB"],
    [1e15, "1 PB"],
    [Number.MAX_SAFE_INTEGER, "9.01 PB"],
  ])("writes %i bytes as %s", (bytes, text) => {
    expect(formatsOf(ENGLISH).size(bytes)).toBe(text);
  });

  it("writes all digits, in the format of the language", () => {
    expect(formatsOf(ENGLISH).exactSize(5_368_709_120)).toBe("5,368,709,120 bytes");
    expect(formatsOf(GERMAN).exactSize(1234)).toBe("1.234 Byte");
  });

  it("writes times in UTC", () => {
    expect(formatsOf(GERMAN).time(new Date(Date.UTC(2026, 11, 31, 23, 59, 59)))).toBe("31.12.2026, 23:59");
  });

  it("are created once for a language", () => {
    expect(formatsOf(ENGLISH)).toBe(formatsOf(ENGLISH));
  });
});
