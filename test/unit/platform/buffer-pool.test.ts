import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type BufferSizer, createBufferSizer } from "../../../src/platform/buffer-pool.ts";

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

describe("the size of a transfer's buffers", () => {
  const DOWNLOAD = { least: 16_384 };

  it("starts with 64 KiB, and grows to its limit while buffers pass within 20 ms", () => {
    expect(sizesOf(createBufferSizer(), [19, 19, 19, 19])).toEqual([65_536, 131_072, 262_144, SIZE, SIZE]);
    expect(sizesOf(createBufferSizer(undefined, { most: 65_536 }), [1, 1])).toEqual([65_536, 65_536, 65_536]);
  });

  it("shrinks to its limit while buffers take longer than 200 ms, and grows again", () => {
    expect(sizesOf(createBufferSizer(), [201, 201])).toEqual([65_536, 65_536, 65_536]);
    expect(sizesOf(createBufferSizer(undefined, DOWNLOAD), [201, 201, 201, 100, 1, 1])).toEqual([
      65_536, 32_768, 16_384, 16_384, 16_384, 32_768, 65_536,
    ]);
  });

  it("shrinks while a source fills less than half of them", () => {
    const sizer = createBufferSizer(undefined, DOWNLOAD);
    expect(sizesOf(sizer, [1, 1, 1], 10_000)).toEqual([65_536, 32_768, 16_384, 32_768]);
    expect(sizesOf(createBufferSizer(undefined, DOWNLOAD), [1], 32_768)).toEqual([65_536, 131_072]);
  });

  /** The sizes before and after each buffer, which took so many milliseconds. */
  function sizesOf(sizer: BufferSizer, durations: readonly number[], byteLength?: number): number[] {
    const after = durations.map((milliseconds) => {
      const size = sizer.size();
      sizer.passed(milliseconds, byteLength);
      return size;
    });
    return [...after, sizer.size()];
  }
});
