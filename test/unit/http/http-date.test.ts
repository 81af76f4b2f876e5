import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHttpDate, toHttpDate } from "../../../src/http/http-date.ts";

const now = Date.UTC(2026, 0, 1);
const example = Date.UTC(1994, 10, 6, 8, 49, 37);

describe("an HTTP-date", () => {
  it.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", example],
    ["Sunday, 06-Nov-94 08:49:37 GMT", example],
    ["Sun Nov  6 08:49:37 1994", example],
    ["Thu, 29 Feb 2024 23:59:59 GMT", Date.UTC(2024, 1, 29, 23, 59, 59)],
    ["Thursday, 29-Feb-24 23:59:59 GMT", Date.UTC(2024, 1, 29, 23, 59, 59)],
    ["Thu Feb 29 23:59:59 2024", Date.UTC(2024, 1, 29, 23, 59, 59)],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Mon, 01 Jan 0001 00:00:00 GMT", Date.parse("0001-01-01T00:00:00Z")],
    ["Mon Jan  1 00:00:00 0099", Date.parse("0099-01-01T00:00:00Z")],
  ])("in any of its three forms is read: %s (RFC 9110 5.6.7)", (text, time) => {
    expect(parseHttpDate(text, now)).toBe(time);
  });

  it.each([
    ["Friday, 01-Jan-76 00:00:00 GMT", 2076],
    ["Friday, 01-Jan-77 00:00:00 GMT", 1977],
    ["Friday, 01-Jan-99 00:00:00 GMT", 1999],
    ["Friday, 01-Jan-00 00:00:00 GMT", 2000],
    ["Friday, 01-Jan-26 00:00:00 GMT", 2026],
  ])("of two digits lies at most 50 years ahead: %s is of %i (RFC 9110 5.6.7)", (text, year) => {
    expect(new Date(parseHttpDate(text, now) ?? 0).getUTCFullYear()).toBe(year);
  });

  it.each([
    null,
    "",
    "yesterday",
    "0",
    "784111777",
    "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 GMT+0100",
    "Sunday, 06-Nov-94 08:49:37 GMT+0100",
    "a Sunday, 06-Nov-94 08:49:37 GMT",
    "a Sun Nov  6 08:49:37 1994",
    "Sun Nov  6 08:49:37 1994 +0100",
    "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 32 Nov 1994 08:49:37 GMT",
    "Mon, 31 Feb 2020 00:00:00 GMT",
    "Monday, 31-Feb-20 00:00:00 GMT",
    "Mon Feb 31 00:00:00 2020",
    "Wed, 29 Feb 2023 00:00:00 GMT",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sat, 31 Dec 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:61:37 GMT",
    " Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994",
    "Sunday, 06-Nov-1994 08:49:37 GMT",
  ])("that is none is ignored: %j (SECURITY 15)", (text) => {
    expect(parseHttpDate(text, now)).toBeUndefined();
  });

  it("is written so that it is read again, to the second (RFC 9110 5.6.7)", () => {
    const times = fc.integer({ min: 0, max: 253_402_300_799 });
    fc.assert(
      fc.property(times, (seconds) => {
        const text = toHttpDate(new Date(seconds * 1000 + 999));
        expect(text).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
        expect(parseHttpDate(text, now)).toBe(seconds * 1000);
      }),
    );
  });

  it("never makes the reader throw (SECURITY 11)", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const time = parseHttpDate(text, now);
        expect(time === undefined || Number.isFinite(time)).toBe(true);
      }),
    );
  });
});
