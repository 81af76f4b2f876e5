import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { findReplacingWrite, noteReplacingWrite } from "../../../src/storage/replacing-write.ts";
import type { StorageStep } from "../../../src/testing/faulty-storage/faults.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";

/** The steps of each call at which it fails, once each. */
type FailingSteps = readonly StorageStep["step"][];

/**
 * The storages that a wrapper is tried over, a new one for each trial. On a disk each call fails when it is done: a
 * call that has done nothing leaves what the one before it has left, and trials on a disk take several times as long.
 */
export const TRIED: readonly (readonly [where: string, create: () => StorageAdapter, steps: FailingSteps])[] = [
  ["in memory", createMemoryStorage, ["call", "response"]],
  ["on a disk", createTriedDisk, ["response"]],
];

/** The file system in memory takes less time for thousands of folders. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A new disk storage for one trial. */
export function createTriedDisk(): StorageAdapter {
  const root = mkdtempSync(join(FOLDER, "fileferry-tried-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return createDiskStorage({ root, durability: "rename" });
}

/** A storage of which one step fails, once. */
export interface FailingStorage {
  readonly storage: StorageAdapter;
  /** Counts the steps from here on. */
  arm(): void;
  /** Lets no more steps fail, and returns how many there were. */
  disarm(): number;
}

/** Fails at the step with a number, of some steps of all calls; 0: at none. */
export function createFailing(inner: StorageAdapter, counted: FailingSteps, failing: number): FailingStorage {
  let steps = 0;
  let isArmed = false;

  function isDue(step: StorageStep["step"]): boolean {
    if (!isArmed || !counted.includes(step)) return false;
    steps += 1;
    return steps === failing;
  }

  const storage = createFaultyStorage(inner, ({ step }) => (isDue(step) ? { fault: "error" } : undefined));
  const replace = findReplacingWrite(inner);
  if (replace !== undefined) {
    noteReplacingWrite(storage, async (...write) => {
      if (isDue("call")) throw new StorageError("unavailable");
      const entry = await replace(...write);
      if (isDue("response")) throw new StorageError("unavailable");
      return entry;
    });
  }
  return {
    storage,
    arm: () => {
      isArmed = true;
    },
    disarm() {
      isArmed = false;
      return steps;
    },
  };
}

/** Crashes at the step with a number, of all calls: neither this step nor any later one does anything. */
export function createCrashing(inner: StorageAdapter, crashing: number): Pick<FailingStorage, "storage" | "arm"> {
  let [steps, isArmed] = [0, false];
  const storage = createFaultyStorage(inner, ({ step }) => {
    if (!isArmed || step !== "call") return undefined;
    steps += 1;
    return steps >= crashing ? { fault: "error" } : undefined;
  });
  return {
    storage,
    arm: () => {
      isArmed = true;
    },
  };
}
