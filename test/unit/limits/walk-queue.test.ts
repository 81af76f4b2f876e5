import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createWalkQueue, type WalkQueue } from "../../../src/limits/walk-queue.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Starts walks, and records the name of each when it may go on. */
function enter(queue: WalkQueue, started: string[], names: readonly string[], signal = stays()): Promise<void>[] {
  return names.map(async (name) => {
    await queue.start(name.split("-")[0] ?? "", signal).next();
    started.push(name);
  });
}

/** The signal of a client that stays. */
function stays(): AbortSignal {
  return new AbortController().signal;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function pass(milliseconds: number): Promise<void> {
  vi.advanceTimersByTime(milliseconds);
  await settle();
}

describe("createWalkQueue", () => {
  it("lets as many walks go on at a time as there are places, each for 50 ms, and those of an account in their order", async () => {
    const started: string[] = [];
    enter(createWalkQueue(4), started, ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"]);
    await pass(49);
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4"]);
    await pass(1);
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"]);
  });

  it("serves the account first that has used the least time of late, however many walks of others wait", async () => {
    const queue = createWalkQueue(4);
    const started: string[] = [];
    for (const walk of [1, 2, 3]) {
      const names = Array.from({ length: 64 }, (_, account) => `a${account}-${walk}`);
      enter(queue, started, names);
    }
    for (let round = 0; round < 16; round++) await pass(50);
    expect(started, "each account has had a place").toHaveLength(68);
    enter(queue, started, ["b-1", "B-2", "c-1"]);
    await pass(50);
    expect(started.slice(68).sort()).toEqual([expect.stringMatching(/^a/), expect.stringMatching(/^a/), "b-1", "c-1"]);
  });

  it("gives a walk its next place only after 50 ms, when others wait", async () => {
    const queue = createWalkQueue(4);
    const started: string[] = [];
    const { next } = queue.start("a", stays());
    await next();
    await next();
    enter(queue, started, ["b-1", "c-1", "d-1", "e-1", "f-1", "g-1", "h-1"]);
    await pass(50);
    expect(started).toEqual(["b-1", "c-1", "d-1", "e-1", "f-1", "g-1", "h-1"]);
    const again = next().then(() => started.push("a"));
    await pass(49);
    expect(started).toHaveLength(7);
    await pass(1);
    await again;
    expect(started.at(-1)).toBe("a");
  });

  it("goes on with a walk of an account before it begins the next ones", async () => {
    const queue = createWalkQueue(4);
    const started: string[] = [];
    enter(queue, started, ["a-1", "a-2", "a-3"]);
    const { next } = queue.start("a", stays());
    await next();
    enter(queue, started, ["a-5", "a-6", "a-7", "a-8", "a-9"]);
    await pass(50);
    const again = next().then(() => started.push("a-4"));
    await pass(50);
    await again;
    expect(started.slice(3)).toEqual(["a-5", "a-6", "a-7", "a-8", "a-4", "a-9"]);
  });

  it("passes a place on at the end of a walk, of which an account is charged only what it has used", async () => {
    const queue = createWalkQueue(4);
    const started: string[] = [];
    const walk = queue.start("a", stays());
    await walk.next();
    enter(queue, started, ["b-1", "c-1", "d-1", "e-1", "f-1"]);
    await pass(10);
    walk.end();
    walk.end();
    await settle();
    expect(started).toEqual(["b-1", "c-1", "d-1", "e-1"]);
    enter(queue, started, ["b-2", "a-2"]);
    await pass(40);
    expect(started.slice(4)).toEqual(["f-1", "a-2", "b-2"]);
  });

  it("does not let a walk go on whose client has disconnected", async () => {
    const queue = createWalkQueue(4);
    const started: string[] = [];
    const client = new AbortController();
    enter(queue, started, ["a-1", "a-2", "a-3", "a-4"]);
    const { next } = queue.start("b", client.signal);
    const [gone] = enter(queue, started, ["b-1"], client.signal);
    enter(queue, started, ["c-1"]);
    client.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    await expect(next()).rejects.toThrow("gone");
    await pass(50);
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4", "c-1"]);
    await pass(50);
    expect(vi.getTimerCount()).toBe(0);
  });
});
