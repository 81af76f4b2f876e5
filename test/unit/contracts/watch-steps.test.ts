import { describe, expect, it } from "vitest";
import { watchSteps } from "../../../src/contracts/watch-steps.ts";

/** A source of numbers that records what happens to it. */
function createSource(count: number, log: string[], failsAt = Number.NaN): AsyncIterable<number> {
  let index = 0;
  return {
    [Symbol.asyncIterator]() {
      log.push("open");
      return {
        async next() {
          if (index === failsAt) throw new Error("source");
          return index < count ? { done: false, value: index++ } : { done: true, value: undefined };
        },
        async return() {
          log.push("return");
          return { done: true, value: undefined };
        },
      };
    },
  };
}

async function collect(steps: AsyncIterable<number>): Promise<number[]> {
  const values: number[] = [];
  for await (const value of steps) values.push(value);
  return values;
}

describe("watched steps", () => {
  it("are those of the source; each is seen before the reader gets it, and the end after the last", async () => {
    const log: string[] = [];
    const steps = watchSteps(() => createSource(2, log), {
      onStep: (value) => void log.push(`step ${value}`),
      onEnd: () => void log.push("end"),
    });
    expect(log).toEqual([]);
    expect(await collect(steps)).toEqual([0, 1]);
    expect(log).toEqual(["open", "step 0", "step 1", "end"]);
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    expect(log).toHaveLength(4);
  });

  it("end with what onStep throws, and release the source once", async () => {
    const log: string[] = [];
    const fail = () => {
      throw new Error("no");
    };
    const steps = watchSteps(() => createSource(2, log), { onStep: fail });
    await expect(collect(steps)).rejects.toThrow("no");
    await steps.return();
    expect(log).toEqual(["open", "return"]);
  });

  it("end with what onEnd throws: there is nothing to release", async () => {
    const log: string[] = [];
    const fail = () => {
      throw new Error("short");
    };
    await expect(collect(watchSteps(() => createSource(1, log), { onEnd: fail }))).rejects.toThrow("short");
    expect(log).toEqual(["open"]);
  });

  it("end with the error of the source, as toError has it", async () => {
    const log: string[] = [];
    const onEnd = () => void log.push("end");
    const steps = watchSteps(() => createSource(3, log, 1), {
      onEnd,
      toError: (error) => new Error(`mapped ${error}`),
    });
    await expect(collect(steps)).rejects.toThrow("mapped Error: source");
    expect(await steps.next()).toMatchObject({ done: true });
    expect(log).toEqual(["open"]);
  });

  it("end with what opening throws, as it is", async () => {
    const open = () => {
      throw new TypeError("closed");
    };
    await expect(collect(watchSteps(open, { toError: () => new Error("mapped") }))).rejects.toThrow("closed");
  });

  it("wait for what a step promises, and release the source if that fails", async () => {
    const log: string[] = [];
    const onStep = async (): Promise<void> => {
      throw new Error("full");
    };
    await expect(collect(watchSteps(() => createSource(3, log), { onStep }))).rejects.toThrow("full");
    expect(log).toEqual(["open", "return"]);
  });

  it("release the source when the reader stops, but open none for that", async () => {
    const log: string[] = [];
    for await (const _ of watchSteps(() => createSource(3, log), {})) break;
    expect(log).toEqual(["open", "return"]);
    await watchSteps(() => createSource(3, log), {}).return();
    expect(log).toHaveLength(2);
  });

  it("take no end for the source's own that the reader has caused while a step was pending", async () => {
    let finish = (_step: IteratorResult<number>): void => undefined;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise<IteratorResult<number>>((resolve) => {
            finish = resolve;
          }),
        async return() {
          finish({ done: true, value: undefined });
          return { done: true as const, value: undefined };
        },
      }),
    };
    let ended = false;
    const onEnd = (): void => {
      ended = true;
    };
    const steps = watchSteps(() => source, { onEnd });
    const pending = steps.next();
    await steps.return();
    await expect(pending).rejects.toThrow("pending");
    expect(ended).toBe(false);
  });
});
