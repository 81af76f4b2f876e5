import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sweepRegularly } from "../../../src/cli/sweeps.ts";
import { createRecordingLogger } from "../../support/logger.ts";

describe("sweepRegularly", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("sweeps at the start and every ten minutes, until it is stopped (R 7.2)", async () => {
    let count = 0;
    const stop = sweepRegularly({
      async sweep() {
        count += 1;
        return 0;
      },
    });
    expect(count).toBe(1);
    await vi.advanceTimersByTimeAsync(599_999);
    expect(count).toBe(1);
    await vi.advanceTimersByTimeAsync(600_001);
    expect(count).toBe(3);
    await stop();
    await vi.advanceTimersByTimeAsync(6_000_000);
    expect(count).toBe(3);
  });

  it("aborts a sweep in progress when it is stopped, and waits for what it is removing (R 7.2)", async () => {
    const logger = createRecordingLogger();
    const steps: string[] = [];
    const stop = sweepRegularly(
      {
        async sweep({ signal } = {}) {
          for (let upload = 1; ; upload += 1) {
            signal?.throwIfAborted();
            await new Promise((resolve) => setTimeout(resolve, 1000));
            steps.push(`upload ${upload} has ended`);
          }
        },
      },
      { logger },
    );
    await vi.advanceTimersByTimeAsync(1500);
    const stopped = stop().then(() => steps.push("stopped"));
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    expect(steps).toEqual(["upload 1 has ended", "upload 2 has ended", "stopped"]);
    expect(logger.entries).toEqual([]);
  });

  it("logs a failure, and goes on (R 7.2)", async () => {
    const logger = createRecordingLogger();
    let count = 0;
    const sweep = async (): Promise<number> => {
      count += 1;
      throw new Error("the storage is down");
    };
    const stop = sweepRegularly({ sweep }, { logger });
    await vi.advanceTimersByTimeAsync(600_000);
    await stop();
    expect(count).toBe(2);
    expect(logger.entries).toHaveLength(2);
  });
});
