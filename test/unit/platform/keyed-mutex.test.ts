import { describe, expect, it } from "vitest";
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
