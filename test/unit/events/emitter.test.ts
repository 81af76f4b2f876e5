import { describe, expect, it } from "vitest";
import type { OnEvent } from "../../../src/contracts/events/file-event.ts";
import { createEmitter } from "../../../src/events/emitter.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { startProcessorTime } from "../../support/processor-time.ts";

const draft = { id: 40010, data: { path: "/a", real_path: "/a" }, component: { uuid: "", type: "http" } } as const;

function createTold(...listeners: OnEvent[]) {
  const logger = createRecordingLogger();
  let passed = 0;
  const emitter = createEmitter({
    listeners: new Set(listeners),
    server: { uuid: "" },
    clock: () => 1_700_000_000_123 + passed,
    logger,
  });
  return { ...emitter, logger, advance: (milliseconds: number) => (passed += milliseconds) };
}

describe("emitted events", () => {
  it("have the members of the envelope in order, and the current time (CONTRACT 8)", () => {
    const told: string[] = [];
    createTold((event) => told.push(JSON.stringify(event))).emit(draft);
    expect(told).toEqual([
      '{"id":40010,"message":"A folder was created.","timestamp":{"timestamp":1700000000.123,"iso_8601":"2023-11-14T22:13:20.123Z"},' +
        '"data":{"path":"/a","real_path":"/a"},"component":{"uuid":"","type":"http"},"server":{"uuid":""}}',
    ]);
  });

  it("are settled when every listener is, even if one rejects", async () => {
    const ends: ((error?: Error) => void)[] = [];
    const { emit, settled, logger } = createTold(
      () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    );
    expect(settled()).toBeUndefined();
    emit(draft);
    emit(draft);
    let isSettled = false;
    settled()?.then(() => {
      isSettled = true;
    });
    ends[0]?.(new Error("no"));
    await new Promise((resolve) => setTimeout(resolve));
    expect(isSettled).toBe(false);
    ends[1]?.();
    await expect.poll(() => isSettled).toBe(true);
    expect(settled()).toBeUndefined();
    expect(logger.entries.length).toBe(1);
  });

  it("log a listener that always fails once a second, with the number of other failures", async () => {
    const { emit, logger, advance } = createTold(
      () => {
        throw new Error("at once");
      },
      () => Promise.reject(new Error("later")),
    );
    for (let count = 0; count < 500; count += 1) emit(draft);
    await new Promise((resolve) => setTimeout(resolve));
    const [one, other] = [new Error("at once"), new Error("later")];
    expect(logger.entries).toMatchObject([
      { level: "error", details: { event: 40010, error: one } },
      { level: "error", details: { event: 40010, error: other } },
    ]);
    advance(1000);
    emit(draft);
    expect(logger.entries[2]?.details).toEqual({ event: 40010, error: one, others: 499 });
  });

  it("wait with one promise for all listeners, however many hang", () => {
    const { emit, settled } = createTold(() => new Promise(() => undefined));
    const elapsed = startProcessorTime();
    const promises = new Set<unknown>();
    for (let count = 0; count < 50_000; count += 1) {
      emit(draft);
      promises.add(settled());
    }
    expect(promises.size).toBe(1);
    expect(elapsed()).toBeLessThan(2000);
  });
});
