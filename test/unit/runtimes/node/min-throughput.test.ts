import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Exchange } from "../../../../src/runtimes/node/exchange.ts";
import { enforceMinThroughput, type ThroughputLimits } from "../../../../src/runtimes/node/min-throughput.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const WINDOW = 12_000;
const LIMITS = { minBytesPerSecond: 1, windowMilliseconds: WINDOW, idleMilliseconds: 0 };

/** A transfer at one check. */
interface Transfer {
  /** Bytes that have moved since the begin. */
  readonly moved?: number;
  /** Whether the client is waited for. */
  readonly isWaited: boolean;
}

/** The check at which a transfer is cut; `undefined` if it outlasts them all. `at` says how it stands at a check. */
async function findCut(
  at: (check: number) => Transfer,
  checks: number,
  limits: Partial<ThroughputLimits> = {},
): Promise<number | undefined> {
  const all = { ...LIMITS, ...limits };
  const periods = [all.minBytesPerSecond && all.windowMilliseconds, all.idleMilliseconds].filter((each) => each > 0);
  const interval = Math.min(...periods, WINDOW) / 12;
  let check = 0;
  let cutAt: number | undefined;
  const exchange = {
    req: { socket: { bytesWritten: 0, writableLength: 0 } },
    res: { writableEnded: false, writableLength: 0 },
    body: { received: () => at(check).moved ?? 0, isWaiting: () => at(check).isWaited },
  } as unknown as Exchange;
  const stop = enforceMinThroughput(
    () => [exchange],
    all,
    () => {
      cutAt ??= check;
    },
  );
  for (; check < checks && cutAt === undefined; check++) await vi.advanceTimersByTimeAsync(interval);
  stop();
  return cutAt;
}

describe("the credit of a client that moves nothing", () => {
  it("is spent while the server waits for it, from the first check on", async () => {
    expect(await findCut(() => ({ isWaited: true }), 100)).toBe(12);
  });

  it("is spent from when the server waits for it, not from the check before", async () => {
    expect(await findCut((check) => ({ isWaited: check >= 20 }), 100)).toBe(32);
  });

  it("is not spent between two checks at one of which the server did not wait for it", async () => {
    expect(await findCut((check) => ({ isWaited: check % 2 === 0 }), 100)).toBeUndefined();
  });
});

describe("the credit of a client that moves something", () => {
  it("lasts as long as the average is the minimum", async () => {
    // 12 bytes arrive once a window, at the last moment.
    expect(
      await findCut((check) => ({ isWaited: true, moved: Math.floor((check + 2) / 12) * 12 }), 1000),
    ).toBeUndefined();
  });

  it("is spent below the minimum, however often a byte moves", async () => {
    expect(await findCut((check) => ({ isWaited: true, moved: Math.floor(check / 2) }), 100)).toBe(23);
  });

  it("is never more than a window, however much has moved", async () => {
    expect(await findCut((check) => ({ isWaited: true, moved: check > 0 ? 1_000_000 : 0 }), 100)).toBe(13);
  });
});

describe("the idle time", () => {
  const IDLE = { minBytesPerSecond: 0, idleMilliseconds: WINDOW };

  it("is up for a client that moves nothing", async () => {
    expect(await findCut(() => ({ isWaited: true }), 100, IDLE)).toBe(12);
  });

  it("is up before the window if it is shorter", async () => {
    const limits = { idleMilliseconds: WINDOW / 4 };
    expect(await findCut(() => ({ isWaited: true }), 100, limits)).toBe(12);
  });

  it("starts again with every byte", async () => {
    expect(await findCut((check) => ({ isWaited: true, moved: Math.floor(check / 10) }), 1000, IDLE)).toBeUndefined();
  });

  it("does not pass while the server does not wait for the client", async () => {
    expect(await findCut((check) => ({ isWaited: check % 2 === 0 }), 1000, IDLE)).toBeUndefined();
  });
});

it("checks nothing without a limit", async () => {
  expect(await findCut(() => ({ isWaited: true }), 100, { minBytesPerSecond: 0, idleMilliseconds: 0 })).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
