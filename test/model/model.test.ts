import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc, { type AsyncCommand } from "fast-check";
import { describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { BROKEN_STORAGES } from "./broken-storages.ts";
import { createEnvironment, type Environment, type EnvironmentOptions } from "./environment.ts";
import { anyBatch, anyContest, anyOperation, describeOperation, type Operation } from "./operations.ts";

/**
 * The seed of all: `MODEL_SEED=1 npx vitest run test/model`. What fails by a seed that is named is made as short as it
 * can be, which takes minutes.
 */
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000);
const IS_SHRUNK = process.env.MODEL_SEED !== undefined;
const MOST = 60;
/** The number of environments in which a defect is found. Most need a few. */
const FINDING = 100;
/** What a defect is found by. */
const FOUND = /No order of these explains|listed|has stood for another content/;

type Step = AsyncCommand<object, Environment, true>;

function toStep(operations: readonly Operation[], seed?: number): Step {
  return {
    check: async () => true,
    run: (_, environment) => environment.run(operations, seed),
    toString: () => operations.map(describeOperation).join(" | "),
  };
}

/** Operations one after the other, and some at once. */
const commands = fc.commands<object, Environment, true>(
  [
    anyOperation.map((operation) => toStep([operation])),
    anyOperation.map((operation) => toStep([operation])),
    fc.tuple(anyBatch, fc.nat()).map(([operations, seed]) => toStep(operations, seed)),
    fc.tuple(anyContest, fc.nat()).map(([operations, seed]) => toStep(operations, seed)),
  ],
  { maxCommands: MOST, size: "max" },
);

interface Counts {
  operations: number;
  faults: number;
}

/** Whether a number of runs, each in an environment of its own, are as the model says. */
async function play(
  runs: number,
  create: () => Promise<EnvironmentOptions & { end?(): Promise<void> }>,
  counts: Counts = { operations: 0, faults: 0 },
) {
  const property = fc.asyncProperty(commands, async (steps) => {
    const { end, ...options } = await create();
    const environment = await createEnvironment(options);
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: environment }), steps);
      await environment.lookAround();
    } finally {
      counts.operations += environment.counts.operations;
      counts.faults += environment.counts.faults;
      await end?.();
    }
  });
  return fc.check(property, { seed: SEED, numRuns: runs, endOnFailure: !IS_SHRUNK });
}

async function expectAsModelled(kind: string, runs: number, create: Parameters<typeof play>[1]): Promise<void> {
  const counts: Counts = { operations: 0, faults: 0 };
  const details = await play(runs, create, counts);
  if (details.failed)
    throw new Error(`MODEL_SEED=${SEED}\n${fc.defaultReportMessage(details)}`, { cause: details.errorInstance });
  expect(counts.operations, "operations").toBeGreaterThan(runs * 10);
  expect(counts.faults, "faults").toBeGreaterThan(runs);
  reportFigure({ row: "Model", what: `operations on ${kind}`, value: counts.operations });
  reportFigure({ row: "Model", what: `faults on ${kind}`, value: counts.faults });
}

describe("three clients, a shared folder and a storage that fails now and then", () => {
  it("see and leave what a plain model says, in memory", async () => {
    let environments = 0;
    await expectAsModelled("memory", amount({ short: 6, ci: 12, long: 600 }), async () => {
      environments += 1;
      return { inner: createMemoryStorage(), isHeard: environments % 2 === 0 };
    });
  });

  it("see and leave what a plain model says, on disk, and no temporary files", async () => {
    let environments = 0;
    await expectAsModelled("disk", amount({ short: 3, ci: 6, long: 240 }), async () => {
      environments += 1;
      const root = await mkdtemp(join(tmpdir(), "fileferry-model-"));
      const end = async (): Promise<void> => {
        const names = await readdir(root, { recursive: true });
        await rm(root, { recursive: true });
        expect(names.filter((name) => name.includes(".fileferry-"))).toEqual([]);
      };
      return { inner: createDiskStorage({ root, durability: "rename" }), isHeard: environments % 2 === 0, end };
    });
  });
});

describe("the model finds", () => {
  it.each(Object.entries(BROKEN_STORAGES))("a storage that %s", async (_, wrap) => {
    const { failed, errorInstance } = await play(FINDING, async () => ({ inner: createMemoryStorage(), wrap }));
    expect(failed).toBe(true);
    expect(String(errorInstance)).toMatch(FOUND);
  });

  it("If-Match missing where a storage does not know it, and nothing else", async () => {
    const inner = createMemoryStorage();
    await inner.createFolder("/folder");
    const removed = BROKEN_STORAGES["does not know If-Match"]?.(inner).remove("/folder", {
      kind: "file",
      ifMatch: "*",
    });
    await expect(removed).rejects.toMatchObject({ code: "not-found" });
  });

  it("a service that lets somebody write where it may not", async () => {
    const bobs = ["allow-read", "allow-list", "allow-write"];
    const { failed, errorInstance } = await play(FINDING, async () => ({ inner: createMemoryStorage(), bobs }));
    expect(failed).toBe(true);
    expect(String(errorInstance)).toMatch(FOUND);
  });
});
