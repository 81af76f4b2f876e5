import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createKeyedMutex } from "../../../src/platform/keyed-mutex.ts";

describe("work on one key", () => {
  it("runs in the order of the calls, also after a task that fails", async () => {
    const withLock = createKeyedMutex();
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      steps.push(`${name} ends`);
      if (name === "first") throw new Error("failed");
      return name;
    };
    const [first, second] = [withLock("key", work("first")), withLock("key", work("second"))];
    await expect(first).rejects.toThrow("failed");
    expect(await Promise.all([second, withLock("key", work("third"))])).toEqual(["second", "third"]);
    expect(steps).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it("does not wait for another key", async () => {
    const withLock = createKeyedMutex();
    const held = withLock("key", () => new Promise<string>(() => undefined));
    expect(await Promise.race([held, withLock("another", async () => "done")])).toBe("done");
  });
});

describe("work on one key on Workers, where no request may wait for a promise of another", () => {
  beforeEach(() => {
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
    vi.resetModules();
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it("runs one task at a time", async () => {
    const mutex = await import("../../../src/platform/keyed-mutex.ts");
    const withLock = mutex.createKeyedMutex();
    let running = 0;
    const task = async () => {
      running += 1;
      await new Promise((resolve) => setTimeout(resolve, 30));
      return running--;
    };
    const results = Promise.all([1, 2, 3].map(() => withLock("key", task)));
    await vi.runAllTimersAsync();
    expect(await results).toEqual([1, 1, 1]);
  });

  it("waits for a task that takes long", async () => {
    const mutex = await import("../../../src/platform/keyed-mutex.ts");
    const withLock = mutex.createKeyedMutex();
    const order: string[] = [];
    const long = withLock("key", async () => {
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      order.push("long");
    });
    const next = withLock("key", async () => void order.push("next"));
    await vi.advanceTimersByTimeAsync(61_000);
    await Promise.all([long, next]);
    expect(order).toEqual(["long", "next"]);
  });

  it("goes on after some seconds if the runtime has ended the request that holds the key, one by one", async () => {
    const mutex = await import("../../../src/platform/keyed-mutex.ts");
    const withLock = mutex.createKeyedMutex();
    void withLock("key", () => new Promise<string>(() => undefined));
    // What the runtime does.
    vi.clearAllTimers();
    let running = 0;
    const next = [1, 2, 3].map(() =>
      withLock("key", async () => {
        running += 1;
        await new Promise((resolve) => setTimeout(resolve, 30));
        return running--;
      }),
    );
    await vi.advanceTimersByTimeAsync(11_000);
    expect(await Promise.all(next)).toEqual([1, 1, 1]);
    expect(await withLock("key", async () => "at once")).toBe("at once");
  });
});
