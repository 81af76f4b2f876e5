import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createFairQueue,
  type FairQueue,
  runSteps,
  type Urgency,
  type Work,
} from "../../../src/platform/fair-queue.ts";

/** How long a step of these tests takes by the clock that the queue reads, in milliseconds: longer than a slice. */
const STEP_MS = 2;

/** Runs long work of some steps, and records its account at each step. */
async function work(queue: FairQueue, account: string, steps: number, started: string[], urgency: Urgency = "long") {
  for (let step = 0; step < steps; step++) {
    await queue.run(account, urgency, async () => {
      started.push(account);
      vi.advanceTimersByTime(STEP_MS);
    });
  }
}

function iteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("createFairQueue", () => {
  // On a busy machine the system's clock also counts the time in which other processes run.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs the first step immediately, and returns what the step returns", async () => {
    const queue = createFairQueue();
    let isStarted = false;
    const result = queue.run("a", "long", async () => {
      isStarted = true;
      return 5;
    });
    expect(isStarted).toBe(true);
    expect(await result).toBe(5);
  });

  it("passes the error of a step on, and goes on", async () => {
    const queue = createFairQueue();
    const failing = queue.run("a", "long", async () => {
      throw new Error("lost");
    });
    const next = queue.run("a", "long", async () => "next");
    await expect(failing).rejects.toThrow("lost");
    expect(await next).toBe("next");
  });

  it("lets the event loop handle other events between long steps", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    const all = Promise.all(Array.from({ length: 10 }, () => work(queue, "a", 1, started)));
    const seen: number[] = [];
    while (started.length < 10) {
      seen.push(started.length);
      await iteration();
    }
    await all;
    expect(seen.length).toBeGreaterThanOrEqual(9);
  });

  it("lets one piece of work pass hundreds of another account", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    const others = Array.from({ length: 100 }, () => work(queue, "many", 2, started));
    await work(queue, "one", 5, started);
    expect(started.filter((account) => account === "many").length).toBeLessThan(15);
    await Promise.all(others);
    expect(started).toHaveLength(205);
  });

  it("runs each step in the asynchronous context of its caller", async () => {
    const queue = createFairQueue();
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const names = ["first", "second", "third"];
    const step = async () => {
      seen.push(context.getStore());
      await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await Promise.all(names.map((name) => context.run(name, () => queue.run("one", "short", step))));
    expect(seen).toEqual(names);
  });

  it("shares the time between accounts that want more than there is", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    const of = (account: string, pieces: number) =>
      Array.from({ length: pieces }, () => work(queue, account, 20, started));
    await Promise.all([...of("a", 10), ...of("b", 1)]);
    const last = started.lastIndexOf("b");
    expect(started.slice(0, last).filter((account) => account === "a").length).toBeLessThan(30);
  });

  it("starts short steps before long ones, even of an account that has used more time", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    await work(queue, "short", 5, started);
    const long = Array.from({ length: 20 }, (_, index) => work(queue, `long ${index}`, 1, started));
    await work(queue, "short", 3, started, "short");
    expect(started.slice(5).filter((account) => account !== "short").length).toBeLessThan(5);
    await Promise.all(long);
  });

  it("starts short steps in an iteration of the event loop in which long ones have used their time", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    const long = Promise.all(Array.from({ length: 5 }, () => work(queue, "long", 1, started)));
    await queue.run("short", "short", async () => started.push("short"));
    expect(started).toEqual(["long", "short"]);
    await long;
  });

  it("gives accounts with short steps turns, also one that has used more time than all others", async () => {
    const queue = createFairQueue();
    const started: string[] = [];
    await work(queue, "one", 50, started, "short");
    const names = ["a", "b", "c"];
    const others = names.flatMap((name) => Array.from({ length: 10 }, () => work(queue, name, 1, started, "short")));
    await work(queue, "one", 1, started, "short");
    expect(started.slice(50).indexOf("one")).toBeLessThanOrEqual(names.length + 1);
    await Promise.all(others);
  });

  /** Charges an account, so that a long step of it would be the last. Then starts long work of others. */
  async function startLongWork(queue: FairQueue, account: string): Promise<string[]> {
    const started: string[] = [];
    await work(queue, account, 5, []);
    for (let index = 0; index < 5; index++) void work(queue, "long", 1, started);
    return started;
  }

  const start = (name: string, { run }: Work, started: string[]): Promise<number> =>
    run(async () => started.push(name));

  it("begins short work with short steps, of one work of an account at a time", async () => {
    const queue = createFairQueue();
    const first = queue.begin("one", "short");
    const second = queue.begin("one", "short");
    const started = await startLongWork(queue, "one");
    await start("first", first, started);
    await start("other", queue.begin("other", "short"), started);
    expect(started.filter((name) => name === "long").length).toBeLessThan(2);
    await start("second", second, started);
    expect(started.filter((name) => name === "long")).toHaveLength(5);
  });

  it.each([
    ["the work before it has ended", true, 0],
    ["a second has passed, though the work before it never ends", false, 1001],
  ])("begins other short work of an account with short steps when %s", async (_when, ends, milliseconds) => {
    const queue = createFairQueue();
    const first = queue.begin("one", "short");
    if (ends) first.end();
    vi.advanceTimersByTime(milliseconds);
    const second = queue.begin("one", "short");
    if (!ends) first.end();
    const third = queue.begin("one", "short");
    const started = await startLongWork(queue, "one");
    await start("second", second, started);
    expect(started.filter((name) => name === "long").length).toBeLessThan(2);
    await start("third", third, started);
    expect(started.filter((name) => name === "long")).toHaveLength(5);
  });

  it("makes the seventeenth step of short work a long one", async () => {
    const queue = createFairQueue();
    const short = queue.begin("one", "short");
    const started = await startLongWork(queue, "one");
    for (let step = 1; step <= 16; step++) await start(`short ${step}`, short, started);
    const before = started.indexOf("short 16");
    expect(started.slice(0, before).filter((name) => name === "long").length).toBeLessThan(5);
    await start("seventeenth", short, started);
    expect(started.slice(0, started.indexOf("seventeenth")).filter((name) => name === "long")).toHaveLength(5);
  });

  it("does not wait for a step whose storage never answers", async () => {
    const queue = createFairQueue();
    void queue.run("a", "long", () => new Promise(() => undefined));
    void queue.run("a", "long", () => new Promise(() => undefined));
    expect(await queue.run("b", "long", async () => "answered")).toBe("answered");
    expect(await queue.run("a", "long", async () => "answered")).toBe("answered");
  });
});

describe("runSteps", () => {
  async function* numbers(ended: string[]): AsyncGenerator<number> {
    try {
      yield* [1, 2, 3];
    } finally {
      ended.push("ended");
    }
  }

  it("makes each step one of the work, and ends the work", async () => {
    const steps: string[] = [];
    const found: number[] = [];
    const run: Work["run"] = (step) => {
      steps.push("step");
      return step();
    };
    for await (const value of runSteps(numbers([]), { run, end: () => steps.push("end") })) found.push(value);
    expect(found).toEqual([1, 2, 3]);
    expect(steps).toEqual(["step", "step", "step", "step", "end"]);
  });

  it("ends the source and the work if its reader stops", async () => {
    const ended: string[] = [];
    const end = () => ended.push("work");
    for await (const _value of runSteps(numbers(ended), { run: (step) => step(), end })) break;
    expect(ended.sort()).toEqual(["ended", "work"]);
  });
});
