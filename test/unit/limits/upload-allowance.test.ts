import { describe, expect, it } from "vitest";
import { createUploadAllowances } from "../../../src/limits/upload-allowance.ts";

describe("the upload allowance of an account", () => {
  it("is an eighth of what its limits leave, in number and in bytes", () => {
    const allowances = createUploadAllowances(() => 0);
    expect(allowances.take("a", 1)).toBe(false);
    allowances.give("a", { count: 16, bytes: 80 });
    expect([allowances.take("a", 11), allowances.take("a", 4), allowances.take("b", 0)]).toEqual([false, true, false]);
    expect([allowances.take("a", 7), allowances.take("a", 6), allowances.take("a", 0)]).toEqual([false, true, false]);
  });

  it("is gone after ten seconds, as other processes create uploads too", () => {
    let now = 0;
    const allowances = createUploadAllowances(() => now);
    allowances.give("a", { count: 80, bytes: Number.POSITIVE_INFINITY });
    now = 10_000;
    expect(allowances.take("a", 1)).toBe(true);
    now = 10_001;
    expect(allowances.take("a", 1)).toBe(false);
  });

  it("is kept for the thousand accounts that were counted last", () => {
    const allowances = createUploadAllowances(() => 0);
    for (let index = 0; index <= 1000; index += 1) allowances.give(`${index}`, { count: 8, bytes: 8 });
    expect([allowances.take("0", 1), allowances.take("1", 1), allowances.take("1000", 1)]).toEqual([false, true, true]);
  });
});
