import { describe, expect, it } from "vitest";
import type { OnEvent } from "../../../src/contracts/events/file-event.ts";
import { createEmitter } from "../../../src/events/emitter.ts";
import { createRecordingLogger } from "../../support/logger.ts";

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

describe("events that are told", () => {
  it("have the envelope's members in its order, and the time of now (CONTRACT 8)", () => {
    const told: string[] = [];
    createTold((event) => told.push(JSON.stringify(event))).emit(draft);
    expect(told).toEqual([
      '{"id":40010,"message":"A folder was created.","timestamp":{"timestamp":1700000000.123,"iso_8601":"2023-11-14T22:13:20.123Z"},' +
        '"data":{"path":"/a","real_path":"/a"},"component":{"uuid":"","type":"http"},"server":{"uuid":""}}',
    ]);
  });

  it("are settled when every listener is, whatever came of it", async () => {
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

  it("fill no log with listeners that fail at each of them: one line a second for each, and how many others there were", async () => {
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

  it("cost no more the more of them hang: one promise stands for all", () => {
    const { emit, settled } = createTold(() => new Promise(() => undefined));
    const begun = performance.now();
    const promises = new Set<unknown>();
    for (let count = 0; count < 50_000; count += 1) {
      emit(draft);
      promises.add(settled());
    }
    expect(promises.size).toBe(1);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});
