import { describe, expect, it } from "vitest";
import { createRoundRobin, type TakeTurn } from "../../../src/platform/round-robin.ts";

/** Runs long work of some steps, and records its key at each step. */
async function work(takeTurn: TakeTurn, key: string, steps: number, started: string[]): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await takeTurn(key);
    started.push(key);
  }
}

function iteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("createRoundRobin", () => {
  it("starts a step immediately if no other has started in this iteration of the event loop", async () => {
    const takeTurn = createRoundRobin();
    for (let count = 0; count < 3; count++) {
      expect(takeTurn("a")).toBeUndefined();
      expect(takeTurn("a")).toBeInstanceOf(Promise);
      for (let passed = 0; passed < 3; passed++) await iteration();
    }
  });

  it("alternates between two keys that have many steps each", async () => {
    const takeTurn = createRoundRobin();
    const started: string[] = [];
    const ofKey = (key: string) => Array.from({ length: 50 }, () => work(takeTurn, key, 2, started));
    await Promise.all([...ofKey("a"), ...ofKey("b")]);
    expect(started).toHaveLength(200);
    // The first step of all starts before the other key is there.
    expect(started.join("")).toBe(`a${"ab".repeat(99)}b`);
  });

  it("lets one piece of work pass hundreds of another key", async () => {
    const takeTurn = createRoundRobin();
    const started: string[] = [];
    const others = Array.from({ length: 300 }, () => work(takeTurn, "many", 20, started));
    await work(takeTurn, "one", 10, started);
    expect(started.filter((key) => key === "many").length).toBeLessThan(15);
    await Promise.all(others);
    expect(started).toHaveLength(300 * 20 + 10);
  });

  it("starts the steps of a key in the order of the calls, one in each iteration", async () => {
    const takeTurn = createRoundRobin();
    const started: number[] = [];
    takeTurn("a");
    const steps = [0, 1, 2, 3].map(async (step) => {
      await takeTurn("a");
      started.push(step);
    });
    const seen: number[] = [];
    for (let passed = 0; passed < 5; passed++) {
      await iteration();
      seen.push(started.length);
    }
    await Promise.all(steps);
    expect(started).toEqual([0, 1, 2, 3]);
    expect(seen).toEqual([1, 2, 3, 4, 4]);
  });

  it("is not delayed by work that never asks again: a step holds nothing", async () => {
    const takeTurn = createRoundRobin();
    const started: string[] = [];
    for (const key of ["a", "a", "b", "b"]) void work(takeTurn, key, 1, started);
    await work(takeTurn, "a", 3, started);
    expect(started).toHaveLength(7);
  });
});
