import { describe, expect, it } from "vitest";
import { createLatencyGuard } from "../../../../src/storage/disk/latency-guard.ts";

describe("the latency guard of a disk", () => {
  it("allows synchronous calls until two calls within a second were slow, and again after a while", async () => {
    const { guard, take } = createGuard();
    expect(guard.isFast()).toBe(true);
    take(50);
    await nextTurn();
    expect(guard.isFast()).toBe(true);
    take(1);
    take(50);
    await nextTurn();
    expect(guard.isFast()).toBe(false);
    take(0, 499);
    expect(guard.isFast()).toBe(false);
    take(0, 2);
    await nextTurn();
    expect(guard.isFast()).toBe(true);
  });

  it("ignores single slow calls", async () => {
    const { guard, take } = createGuard();
    for (let round = 0; round < 5; round += 1) {
      take(50, 2000);
      await nextTurn();
      expect(guard.isFast()).toBe(true);
    }
  });

  it("needs only one call of more than 100 ms, and pauses longer each time while the disk stays slow", async () => {
    const { guard, take } = createGuard();
    const pauses: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      take(300);
      let waited = 0;
      for (await nextTurn(); !guard.isFast(); await nextTurn()) {
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
    expect(guard.isFast()).toBe(true);
  });

  it("ignores the time in which other processes used the processor", async () => {
    const { guard, take } = createGuard();
    for (let call = 0; call < 4; call += 1) {
      expect(guard.isFast()).toBe(true);
      take(300, 0, { waited: 297 });
    }
    expect(guard.isFast()).toBe(false);
    await nextTurn();
    expect(guard.isFast()).toBe(true);
  });

  it("does not take calls for slow in which the thread only ran, but lets the event loop go on after them", async () => {
    const { guard, take } = createGuard();
    for (let call = 0; call < 4; call += 1) {
      expect(guard.isFast()).toBe(true);
      take(300, 0, { ran: 297 });
      expect(guard.isFast()).toBe(false);
      await nextTurn();
    }
    expect(guard.isFast()).toBe(true);
  });

  it("takes calls for slow though the system counts with them what the thread ran before", async () => {
    const { guard, take } = createGuard();
    for (let call = 0; call < 2; call += 1) take(13, 0, { ran: 4 });
    await nextTurn();
    expect(guard.isFast()).toBe(false);
  });

  it("subtracts that time once, and from the calls of its own iteration of the event loop only", async () => {
    const { guard, take, work } = createGuard();
    work(100);
    take(50);
    take(50, 0, { waited: 30 });
    await nextTurn();
    expect(guard.isFast()).toBe(false);
  });

  it("counts the time in which the thread slept, also after much work in the same iteration", async () => {
    const { guard, take, work } = createGuard();
    for (let call = 0; call < 2; call += 1) {
      take(1);
      work(40);
      take(15);
    }
    await nextTurn();
    expect(guard.isFast()).toBe(false);
  });

  it("counts a slow call that fails", async () => {
    const { guard, take } = createGuard();
    expect(() => take(50, 0, { failure: "gone" })).toThrow("gone");
    expect(() => take(50, 0, { failure: "gone" })).toThrow("gone");
    await nextTurn();
    expect(guard.isFast()).toBe(false);
  });

  it.each([
    ["10 ms of fast calls", 1, 0, 10],
    ["50 ms in which there were calls", 1, 9, 5],
  ])("lets the event loop go on after %s", async (_what, duration, rest, calls) => {
    const { guard, take } = createGuard();
    for (let call = 0; call < calls; call += 1) {
      expect(guard.isFast()).toBe(true);
      take(duration, rest);
    }
    expect(guard.isFast()).toBe(false);
    await nextTurn();
    expect(guard.isFast()).toBe(true);
  });
});

interface CallTimes {
  readonly ran?: number;
  readonly waited?: number;
  readonly failure?: string;
}

/**
 * A guard with its own clock. `take` makes a call of this duration, followed by a rest. The thread sleeps in it, but
 * for the time in which it `ran`, or `waited` for a processor. `work` lets it run between calls.
 */
function createGuard() {
  let time = 0;
  const times = { ran: 0, waited: 0 };
  const guard = createLatencyGuard({
    slow: 10,
    near: 1000,
    caution: 500,
    now: () => time,
    threadTimes: () => ({ ...times }),
  });

  function take(duration: number, rest = 0, { ran = 0, waited = 0, failure }: CallTimes = {}): void {
    try {
      guard.timed(() => {
        time += duration;
        times.ran += ran;
        times.waited += waited;
        if (failure !== undefined) throw new Error(failure);
      });
    } finally {
      time += rest;
    }
  }

  function work(duration: number): void {
    time += duration;
    times.ran += duration;
  }

  return { guard, take, work };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
