import { constants } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limitHeapGrowth } from "../../../src/cli/heap.ts";

const { flags, heap, observers } = vi.hoisted(() => ({
  flags: [] as string[],
  heap: { used: 0, young: 0 },
  observers: [] as ((list: { getEntries(): object[] }) => void)[],
}));

vi.mock("node:v8", () => ({
  setFlagsFromString: (flag: string) => flags.push(flag),
  getHeapStatistics: () => ({ used_heap_size: heap.used }),
  getHeapSpaceStatistics: () => [{ space_name: "new_space", space_size: heap.young }],
}));
vi.mock("node:perf_hooks", async (original) => ({
  ...(await original<typeof import("node:perf_hooks")>()),
  PerformanceObserver: class {
    constructor(listener: (typeof observers)[number]) {
      observers.push(listener);
    }
    observe(): void {}
  },
}));

const MIB = 1_048_576;
const { NODE_PERFORMANCE_GC_MAJOR: MAJOR, NODE_PERFORMANCE_GC_MINOR: MINOR } = constants;

describe("the limits of V8's heap", () => {
  beforeEach(() => {
    flags.length = 0;
    observers.length = 0;
    Object.assign(heap, { used: 20 * MIB, young: 8 * MIB });
    // The runner of the tests has a size of its own.
    vi.stubEnv("NODE_OPTIONS", "");
    vi.spyOn(process, "execArgv", "get").mockReturnValue([]);
    limitHeapGrowth();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it("let the old generation grow by half, and by a fifth while more than 64 MiB are in use", () => {
    expect(growthFlags()).toEqual([50]);
    heap.used = 100 * MIB;
    collect(MINOR);
    expect(growthFlags()).toEqual([50]);
    collect(MAJOR);
    collect(MAJOR);
    expect(growthFlags()).toEqual([50, 20]);
    heap.used = 60 * MIB;
    collect(MAJOR);
    expect(growthFlags()).toEqual([50, 20, 50]);
  });

  it("let the young generation grow while objects age too early, but not beside a large heap", () => {
    for (const _ of [1, 2]) collect(...Array.from({ length: 20 }, () => MINOR), MAJOR);
    expect(flags.at(-1)).toBe("--semi-space-growth-factor=2");
    heap.used = 100 * MIB;
    for (const _ of [1, 2]) collect(...Array.from({ length: 20 }, () => MINOR), MAJOR);
    expect(flags.at(-1)).not.toBe("--semi-space-growth-factor=2");
  });

  function growthFlags(): number[] {
    return flags.flatMap((flag) => /^--heap-growing-percent=(\d+)$/.exec(flag)?.slice(1).map(Number) ?? []);
  }

  /** Reports collections of these kinds. */
  function collect(...kinds: number[]): void {
    for (const observer of observers) observer({ getEntries: () => kinds.map((kind) => ({ detail: { kind } })) });
  }
});
