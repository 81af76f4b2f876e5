import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const SIZE = 524_288;
const KEPT = 16_777_216 / SIZE;
const RESTING = 4_194_304 / SIZE;

/** A pool of its own: other tests of this process use the module, with its timer. */
let acquireBuffer: typeof import("../../../src/platform/buffer-pool.ts").acquireBuffer;
let giveBack: typeof import("../../../src/platform/buffer-pool.ts").giveBack;

beforeAll(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  ({ acquireBuffer, giveBack } = await import("../../../src/platform/buffer-pool.ts"));
});
afterAll(() => {
  vi.resetModules();
  vi.useRealTimers();
});

function acquire(count: number): Uint8Array[] {
  return Array.from({ length: count }, () => acquireBuffer(SIZE));
}

/** How many of the buffers are kept. They are given back again. */
function countKept(buffers: readonly Uint8Array[]): number {
  const again = acquire(buffers.length);
  for (const buffer of again) giveBack(buffer);
  return again.filter((buffer) => buffers.includes(buffer)).length;
}

describe("the pool of buffers", () => {
  it("keeps those of 16 MiB that are used every second", async () => {
    const buffers = acquire(KEPT);
    for (const buffer of buffers) giveBack(buffer);
    for (let seconds = 0; seconds < 10; seconds += 1) {
      expect(countKept(buffers)).toBe(KEPT);
      await vi.advanceTimersByTimeAsync(1000);
    }
  });

  it("lets go of all but 4 MiB when nothing needs them", async () => {
    const buffers = acquire(KEPT);
    for (const buffer of buffers) giveBack(buffer);
    await vi.advanceTimersByTimeAsync(3000);
    expect(countKept(buffers)).toBe(RESTING);
  });

  it("keeps what a lower load needs", async () => {
    const buffers = acquire(KEPT);
    for (const buffer of buffers) giveBack(buffer);
    for (let seconds = 0; seconds < 5; seconds += 1) {
      for (const buffer of acquire(KEPT / 2)) giveBack(buffer);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(countKept(buffers)).toBe(KEPT / 2);
  });
});
