import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readRunDelay } from "../../../../src/storage/disk/run-delay.ts";

/** Linux counts the waits of a thread here, as the second number; other systems have no such file. */
const STATISTICS = "/proc/thread-self/schedstat";

describe("the run delay of this thread", () => {
  it.skipIf(process.platform !== "linux")("is what Linux counts, in milliseconds (skipped unless Linux)", () => {
    const before = readCounted();
    const delay = readRunDelay();
    expect(delay).toBeGreaterThanOrEqual(before);
    expect(delay).toBeLessThanOrEqual(readCounted());
  });

  it("never decreases", () => {
    const delays = Array.from({ length: 1000 }, readRunDelay);
    expect(delays).toEqual(delays.toSorted((one, other) => one - other));
  });
});

function readCounted(): number {
  return Number(readFileSync(STATISTICS, "utf8").split(" ")[1]) / 1e6;
}
