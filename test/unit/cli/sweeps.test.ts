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
    stop();
    await vi.advanceTimersByTimeAsync(6_000_000);
    expect(count).toBe(3);
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
    stop();
    expect(count).toBe(2);
    expect(logger.entries).toHaveLength(2);
  });
});
