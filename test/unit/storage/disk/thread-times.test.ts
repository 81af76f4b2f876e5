import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readThreadTimes } from "../../../../src/storage/disk/thread-times.ts";

/** Linux counts the times of a thread here: first how long it ran, then how long it waited for a processor. */
const STATISTICS = "/proc/thread-self/schedstat";
const isLinux = process.platform === "linux";

describe("the times of this thread", () => {
  it.skipIf(!isLinux)("are what Linux counts, in milliseconds (skipped unless Linux)", () => {
    const before = readCounted();
    const { ran, waited } = readThreadTimes();
    const after = readCounted();
    expect(ran).toBeGreaterThanOrEqual(before.ran);
    expect(ran).toBeLessThanOrEqual(after.ran);
    expect(waited).toBeGreaterThanOrEqual(before.waited);
    expect(waited).toBeLessThanOrEqual(after.waited);
  });

  it.skipIf(!isLinux)("do not have the time in which it sleeps (skipped unless Linux)", () => {
    const before = readThreadTimes();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    expect(readThreadTimes().ran - before.ran).toBeLessThan(100);
  });

  it("never decrease", () => {
    const times = Array.from({ length: 1000 }, readThreadTimes).map(({ ran, waited }) => ran + waited);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });
});

function readCounted(): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = readFileSync(STATISTICS, "utf8").split(" ").map(Number);
  return { ran: ran / 1e6, waited: waited / 1e6 };
}
