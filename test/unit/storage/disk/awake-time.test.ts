import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readAwakeTime } from "../../../../src/storage/disk/awake-time.ts";

/** Linux counts the times of a thread here: first how long it ran, then how long it was ready and waited. */
const STATISTICS = "/proc/thread-self/schedstat";

describe("the time in which this thread was awake", () => {
  it.skipIf(process.platform !== "linux")("is what Linux counts, in milliseconds (skipped unless Linux)", () => {
    const before = readCounted();
    const awake = readAwakeTime();
    expect(awake).toBeGreaterThanOrEqual(before);
    expect(awake).toBeLessThanOrEqual(readCounted());
  });

  it("never decreases", () => {
    const times = Array.from({ length: 1000 }, readAwakeTime);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });
});

function readCounted(): number {
  const [ran, waited] = readFileSync(STATISTICS, "utf8").split(" ").map(Number);
  return ((ran ?? 0) + (waited ?? 0)) / 1e6;
}
