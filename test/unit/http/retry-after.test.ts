import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "../../../src/http/retry-after.ts";

const now = Date.UTC(2026, 0, 1);

describe("Retry-After (RFC 9110 10.2.3)", () => {
  it.each([
    ["0", 0],
    ["7", 7000],
    ["120", 120_000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Thursday, 01-Jan-26 00:00:05 GMT", 5000],
    ["Thu Jan  1 00:00:05 2026", 5000],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
  ])("%j is %d ms", (value, milliseconds) => {
    expect(parseRetryAfter(value, now)).toBe(milliseconds);
  });

  it.each([null, "", "soon", "-5", "1.5", "2026-01-01T00:00:05Z", "1".repeat(10), "1".repeat(400)])(
    "%j asks for no wait",
    (value) => {
      expect(parseRetryAfter(value, now)).toBe(0);
    },
  );
});
