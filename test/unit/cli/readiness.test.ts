import { describe, expect, it } from "vitest";
import { createDiskProbe } from "../../../src/cli/config/storage/probe.ts";
import { createReadiness } from "../../../src/cli/readiness.ts";

describe("the readiness of a service", () => {
  it("is that of the processes that serve, at each moment", async () => {
    let problem: string | undefined = "No worker serves.";
    const readiness = createReadiness({ stores: [], findServingProblem: () => problem });
    expect(await readiness.findReasons()).toEqual(["The service is starting."]);
    readiness.enter("listening");
    expect(await readiness.findReasons()).toEqual(["No worker serves."]);
    problem = undefined;
    expect(await readiness.findReasons()).toEqual([]);
    problem = "No worker serves.";
    expect(await readiness.findReasons()).toEqual(["No worker serves."]);
    readiness.enter("stopping");
    expect(await readiness.findReasons()).toEqual(["The service is stopping."]);
  });

  it("asks the storage once for probes that come together, and again after a second", async () => {
    let time = 0;
    let asked = 0;
    const probeStorage = async (): Promise<void> => {
      asked += 1;
      throw new Error("does not exist");
    };
    const readiness = createReadiness({ stores: [], probeStorage }, () => time);
    readiness.enter("listening");
    const reasons = ["storage: does not exist"];
    expect(await Promise.all([readiness.findReasons(), readiness.findReasons()])).toEqual([reasons, reasons]);
    time += 999;
    await readiness.findReasons();
    expect(asked).toBe(1);
    time += 1;
    await readiness.findReasons();
    expect(asked).toBe(2);
  });

  it.runIf(process.platform === "linux")("does not take a file system without counts for a full one", async () => {
    // /proc has 0 blocks, of which 0 are free, as file systems in user space may have.
    await expect(createDiskProbe("/proc")()).resolves.toBeUndefined();
  });
});
