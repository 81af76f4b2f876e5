import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Exchange } from "../../../../src/runtimes/node/exchange.ts";
import { enforceMinThroughput } from "../../../../src/runtimes/node/min-throughput.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const WINDOW = 12_000;
const LOOK = WINDOW / 12;

/** When an upload of which nothing comes is cut; `isWaited` says whether its client is waited for at a look. */
async function findCut(isWaited: (look: number) => boolean, looks: number): Promise<number | undefined> {
  let look = 0;
  let cutAt: number | undefined;
  const exchange = {
    req: { socket: { bytesWritten: 0, writableLength: 0 } },
    res: { writableEnded: false, writableLength: 0 },
    body: { received: () => 0, isWaiting: () => isWaited(look) },
  } as unknown as Exchange;
  const options = { minBytesPerSecond: 1, windowMilliseconds: WINDOW };
  const end = enforceMinThroughput(
    () => [exchange],
    options,
    () => {
      cutAt ??= look;
    },
  );
  for (; look < looks && cutAt === undefined; look++) await vi.advanceTimersByTimeAsync(LOOK);
  end();
  return cutAt;
}

describe("the time of a client that moves nothing", () => {
  it("passes while it is waited for, from the first look on", async () => {
    expect(await findCut(() => true, 100)).toBe(12);
  });

  it("passes from when it is waited for, not from the look before", async () => {
    expect(await findCut((look) => look >= 20, 100)).toBe(32);
  });

  it("does not pass between two looks at one of which it was the service that was waited for", async () => {
    expect(await findCut((look) => look % 2 === 0, 100)).toBeUndefined();
  });
});
