import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createQuickReader } from "../../../../src/storage/disk/system-calls.ts";

const SIZE = 300_000;
const STEP = 65_536;
const content = Buffer.from(Array.from({ length: SIZE }, (_, index) => index % 251));

let folder: string;
let descriptor: number;

beforeEach(async () => {
  // The time of synchronous calls is counted for each iteration of the event loop.
  await nextIteration();
  folder = mkdtempSync(join(tmpdir(), "fileferry-reader-"));
  writeFileSync(join(folder, "file"), content);
  descriptor = openSync(join(folder, "file"), "r");
});

afterEach(() => {
  vi.restoreAllMocks();
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

/** Makes each reading of the clock later than the last one by these milliseconds. */
function stepClock(milliseconds: number): void {
  let now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += milliseconds;
    return now;
  });
}

describe("a reader of a file of medium size", () => {
  it("reads all at once while the system has it in memory", async () => {
    stepClock(0.001);
    const buffer = new Uint8Array(524_288);
    expect(await createQuickReader(descriptor)(buffer, SIZE, 0)).toBe(SIZE);
    expect(content.equals(buffer.subarray(0, SIZE))).toBe(true);
  });

  it("asks another thread after the first step that took long", async () => {
    stepClock(1);
    const read = createQuickReader(descriptor);
    const buffer = new Uint8Array(524_288);
    expect(await read(buffer, SIZE, 0)).toBe(STEP);
    expect(await read(buffer.subarray(STEP), SIZE - STEP, STEP)).toBe(SIZE - STEP);
    expect(content.equals(buffer.subarray(0, SIZE))).toBe(true);
  });

  it("returns what is there up to the end of the file", async () => {
    stepClock(0.001);
    const read = createQuickReader(descriptor);
    const buffer = new Uint8Array(524_288);
    expect(await read(buffer, buffer.length, 100_000)).toBe(SIZE - 100_000);
    expect(await read(buffer, 10, SIZE)).toBe(0);
    expect(await read(buffer, 0, 0)).toBe(0);
  });
});
