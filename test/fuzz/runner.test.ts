import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createCoverage } from "./coverage.ts";
import { fuzz, minimise } from "./runner.ts";
import type { FuzzTarget } from "./target.ts";
import { createWatchdog } from "./watchdog.ts";

const coverage = createCoverage(new URL("./hidden/", import.meta.url));
const watchdog = createWatchdog(join(tmpdir(), `fileferry-fuzz-stalled-${process.pid}`));
afterAll(() => watchdog.close());

const { openDoor } = await import("./hidden/defect.ts");
const door: FuzzTarget = {
  sources: ["defect.ts"],
  dictionary: [..."abcdefghijklmnopqrstuvwxyzD"],
  separators: [" "],
  maxLength: 100,
  run: openDoor,
};
const options = { seed: 1, corpus: ["knock knock"], coverage, watchdog };

describe("the search for inputs that break a promise", () => {
  it("is led by what has run to one that chance would not find, which it makes short", async () => {
    const { failure, finds, reached } = await fuzz(door, { ...options, seconds: 30 });
    expect(failure?.error.message).toBe("Broken: the door stays closed");
    expect(finds).toBeGreaterThan(2);
    expect(reached).toBeGreaterThan(0.8);
    if (failure !== undefined) expect((await minimise(door, failure, watchdog)).input).toBe("Door");
  });

  it("tells of an input that takes too much of the processor", async () => {
    const run = (input: string) => {
      const begun = process.cpuUsage();
      const spent = ({ user, system } = process.cpuUsage(begun)) => user + system;
      while (input.includes("s") && spent() < 130_000);
      return "late";
    };
    const { failure } = await fuzz({ ...door, run }, { ...options, corpus: ["slow"], seconds: 1 });
    expect(failure?.error.message).toMatch(/^Broken: it takes \d+ ms of the processor$/);
  });
});
