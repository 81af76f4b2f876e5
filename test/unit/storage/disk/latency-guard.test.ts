import { describe, expect, it } from "vitest";
import { createLatencyGuard } from "../../../../src/storage/disk/latency-guard.ts";

describe("the pace of a disk", () => {
  it("is quick until two calls near one another were slow, and again after a while", async () => {
    const { pace, take } = createPace();
    expect(pace.isFast()).toBe(true);
    take(50);
    await nextTurn();
    expect(pace.isFast()).toBe(true);
    take(1);
    take(50);
    await nextTurn();
    expect(pace.isFast()).toBe(false);
    take(0, 499);
    expect(pace.isFast()).toBe(false);
    take(0, 2);
    await nextTurn();
    expect(pace.isFast()).toBe(true);
  });

  it("takes one slow call now and then for an accident", async () => {
    const { pace, take } = createPace();
    for (let round = 0; round < 5; round += 1) {
      take(50, 2000);
      await nextTurn();
      expect(pace.isFast()).toBe(true);
    }
  });

  it("needs one call alone of more than 100 ms, and trusts a disk ever later that stays slow", async () => {
    const { pace, take } = createPace();
    const pauses: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      take(300);
      let waited = 0;
      for (await nextTurn(); !pace.isFast(); await nextTurn()) {
        take(0, 100);
        waited += 100;
      }
      pauses.push(waited);
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000]);
    take(0, 60_000);
    take(300);
    await nextTurn();
    take(0, 500);
    await nextTurn();
    expect(pace.isFast()).toBe(true);
  });

  it("counts a slow call that fails", async () => {
    const { pace, take } = createPace();
    expect(() => take(50, 0, "gone")).toThrow("gone");
    expect(() => take(50, 0, "gone")).toThrow("gone");
    await nextTurn();
    expect(pace.isFast()).toBe(false);
  });

  it.each([
    ["10 ms of quick calls", 1, 0, 10],
    ["50 ms in which there were calls", 1, 9, 5],
  ])("lets the event loop go on after %s", async (_what, duration, rest, calls) => {
    const { pace, take } = createPace();
    for (let call = 0; call < calls; call += 1) {
      expect(pace.isFast()).toBe(true);
      take(duration, rest);
    }
    expect(pace.isFast()).toBe(false);
    await nextTurn();
    expect(pace.isFast()).toBe(true);
  });
});

/** A pace with a clock of its own; `take` is a call of so many milliseconds, and a rest behind it. */
function createPace() {
  let time = 0;
  const pace = createLatencyGuard({ slow: 10, near: 1000, caution: 500, now: () => time });

  function take(duration: number, rest = 0, failure?: string): void {
    try {
      pace.timed(() => {
        time += duration;
        if (failure !== undefined) throw new Error(failure);
      });
    } finally {
      time += rest;
    }
  }

  return { pace, take };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
