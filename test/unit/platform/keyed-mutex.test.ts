import { describe, expect, it } from "vitest";
import { createTurns } from "../../../src/platform/keyed-mutex.ts";

describe("work on one key", () => {
  it("runs one after the other in the order it came, also what comes between; a failed piece holds up nobody", async () => {
    const inTurn = createTurns();
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      steps.push(`${name} ends`);
      if (name === "first") throw new Error("failed");
      return name;
    };
    const [first, second] = [inTurn("key", work("first")), inTurn("key", work("second"))];
    await expect(first).rejects.toThrow("failed");
    expect(await Promise.all([second, inTurn("key", work("third"))])).toEqual(["second", "third"]);
    expect(steps).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it("waits for none on another", async () => {
    const inTurn = createTurns();
    const held = inTurn("key", () => new Promise<string>(() => undefined));
    expect(await Promise.race([held, inTurn("another", async () => "done")])).toBe("done");
  });
});
