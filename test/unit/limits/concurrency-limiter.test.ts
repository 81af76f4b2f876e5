import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  type Permit,
} from "../../../src/limits/concurrency-limiter.ts";
import { createRecordingLogger } from "../../support/logger.ts";

/** Whether the fetch API is taken for the light one, where a client that has gone lets go of the source. */
const api = vi.hoisted(() => ({ usesPonyfill: true }));
vi.mock("../../../src/http/source-response.ts", async (original) => ({
  ...(await original<object>()),
  get usesPonyfill() {
    return api.usesPonyfill;
  },
}));

let now = 0;
beforeEach(() => {
  now = 0;
  api.usesPonyfill = true;
});

function create(perAccount: number, perAddress: number, logger = createRecordingLogger()): ConcurrencyLimiter {
  return createConcurrencyLimiter({
    perAccount: ["transfersPerAccount", perAccount],
    perAddress: ["transfersPerAddress", perAddress],
    refusal: "Transfers are refused: there are as many as limits allow.",
    logger,
    clock: () => now,
  });
}

const { signal } = new AbortController();

function taken(slot: Permit | undefined): Permit {
  if (slot === undefined) throw new Error("There was no slot.");
  return slot;
}

/** A source of so many parts, or one that fails behind them. */
function sourceOf(parts: number, fails = false): ByteSource & { closed: number } {
  let left = parts;
  const source = {
    closed: 0,
    async readInto() {
      if (left === 0 && fails) throw new Error("broken");
      left -= 1;
      return left < 0 ? 0 : 1;
    },
    async close() {
      source.closed += 1;
    },
  };
  return source;
}

const buffer = new Uint8Array(1);

describe("the slots of transfers", () => {
  it("may be several for one transfer, as far as they are left, and are free together", () => {
    const slots = create(4, 6);
    const first = taken(slots.acquire("alice", "192.0.2.1", { signal }));
    expect(first.grow(3)).toBe(true);
    expect(first.grow(2), "fewer than it has").toBe(true);
    expect(slots.taken()).toBe(3);
    const second = taken(slots.acquire("alice", "192.0.2.1", { signal }));
    expect(second.grow(2), "of an account that has no more").toBe(false);
    const other = taken(slots.acquire("bob", "192.0.2.1", { signal }));
    expect(other.grow(3), "of an address that has no more").toBe(false);
    expect(slots.taken()).toBe(5);
    first.release();
    expect(slots.taken()).toBe(2);
    expect(other.grow(3)).toBe(true);
    second.release();
    other.release();
    expect(slots.taken()).toBe(0);
  });

  it("may be asked for without being taken, and without a word in the log", () => {
    const logger = createRecordingLogger();
    const slots = create(3, 4, logger);
    expect(slots.canAcquire("alice", "192.0.2.1", 3)).toBe(true);
    const slot = taken(slots.acquire("alice", "192.0.2.1", { signal }));
    expect([2, 3].map((places) => slots.canAcquire("alice", "192.0.2.1", places))).toEqual([true, false]);
    expect(
      [1, 3, 100].map((places) => slot.canGrow(places)),
      "of its own account",
    ).toEqual([true, true, true]);
    expect(slots.canAcquire("bob", "192.0.2.1", 3)).toBe(true);
    expect(slot.grow(2)).toBe(true);
    expect(slots.canAcquire("bob", "192.0.2.1", 3), "of an address that has no more").toBe(false);
    const other = taken(slots.acquire("alice", "192.0.2.2", { signal }));
    expect([2, 3].map((places) => slot.canGrow(places))).toEqual([true, false]);
    expect(slots.taken()).toBe(3);
    slot.release();
    other.release();
    expect(slots.canAcquire("alice", undefined, 100), "as many as anybody may have").toBe(true);
    expect(logger.entries).toEqual([]);
  });

  it("are at most all for one transfer, whatever it wants", () => {
    const slots = create(3, 2);
    const only = taken(slots.acquire("alice", "192.0.2.1", { signal }));
    expect(only.grow(100)).toBe(true);
    expect(slots.canAcquire("alice", "192.0.2.2", 1), "of the account").toBe(false);
    expect(slots.canAcquire("bob", "192.0.2.1", 1), "of the address").toBe(false);
    expect(slots.canAcquire("bob", "192.0.2.2", 1)).toBe(true);
    only.release();
    expect(slots.canAcquire("alice", "192.0.2.1", 3)).toBe(true);
    expect(slots.taken()).toBe(0);
    const unlimited = taken(create(0, 0).acquire("alice", "192.0.2.1", { signal }));
    expect(unlimited.grow(100)).toBe(true);
  });

  it("count for an account and for an address as far as each may have them, so that neither limit hides the other", () => {
    const small = create(1, 10);
    expect(small.acquire("alice", "192.0.2.1", { signal }, 8)).toBeDefined();
    expect(small.acquire("bob", "192.0.2.1", { signal }, 8), "of an address that has 2 left").toBeUndefined();
    expect(small.acquire("bob", "192.0.2.1", { signal }, 2)).toBeDefined();
    const wide = create(10, 1);
    const slot = taken(wide.acquire("alice", "192.0.2.1", { signal }));
    expect(slot.grow(8)).toBe(true);
    expect(wide.acquire("alice", undefined, { signal }, 3), "of an account that has 2 left").toBeUndefined();
    expect(wide.acquire("alice", "192.0.2.2", { signal }, 2)).toBeDefined();
  });

  it("are taken all at once or not at all", () => {
    const slots = create(4, 0);
    const first = taken(slots.acquire("alice", undefined, { signal }, 3));
    expect(slots.acquire("alice", undefined, { signal }, 2)).toBeUndefined();
    expect(first.grow(4)).toBe(true);
    expect(slots.taken()).toBe(4);
  });

  it("are so many for an account, each account by itself", () => {
    const slots = create(2, 0);
    const first = slots.acquire("alice", "192.0.2.1", { signal });
    expect(slots.acquire("alice", "192.0.2.2", { signal })).toBeDefined();
    expect(slots.acquire("alice", "192.0.2.3", { signal })).toBeUndefined();
    expect(slots.acquire("bob", "192.0.2.1", { signal })).toBeDefined();
    first?.release();
    expect(slots.acquire("alice", undefined, { signal })).toBeDefined();
    expect(slots.taken()).toBe(3);
  });

  it("are so many for an address, whatever the account; what the address refuses, the account keeps", () => {
    const slots = create(2, 1);
    expect(slots.acquire("alice", "192.0.2.1", { signal })).toBeDefined();
    for (let turn = 0; turn < 5; turn++) expect(slots.acquire("bob", "192.0.2.1", { signal })).toBeUndefined();
    expect(slots.acquire("bob", "192.0.2.2", { signal })).toBeDefined();
    expect(slots.acquire("bob", "192.0.2.3", { signal })).toBeDefined();
    expect(slots.acquire("bob", "192.0.2.4", { signal })).toBeUndefined();
  });

  it("are counted by the first 64 bits of IPv6, and not at all where the address is not known", () => {
    const slots = create(0, 1);
    expect(slots.acquire("a", "2001:db8:1:2::1", { signal })).toBeDefined();
    expect(slots.acquire("b", "2001:db8:1:2:ffff::2", { signal })).toBeUndefined();
    expect(slots.acquire("b", "2001:db8:1:3::1", { signal })).toBeDefined();
    for (let turn = 0; turn < 5; turn++) expect(slots.acquire("c", undefined, { signal })).toBeDefined();
  });

  it("are free again once, however often they are let go of", () => {
    const slots = create(1, 0);
    const slot = taken(slots.acquire("alice", undefined, { signal }));
    slot.release();
    const next = slots.acquire("alice", undefined, { signal });
    slot.release();
    slot.responded();
    expect(next).toBeDefined();
    expect(slots.acquire("alice", undefined, { signal })).toBeUndefined();
    expect(slots.taken()).toBe(1);
  });

  it("are free with an answer that holds no source", () => {
    const slots = create(1, 0);
    taken(slots.acquire("alice", undefined, { signal })).responded();
    expect(slots.taken()).toBe(0);
  });

  it.each<[string, (source: ByteSource) => Promise<unknown>]>([
    ["is read to its end", async (source) => [await source.readInto(buffer), await source.readInto(buffer)]],
    ["is let go of", (source) => source.close()],
    [
      "is let go of midway, twice",
      async (source) => [await source.readInto(buffer), await source.close(), await source.close()],
    ],
  ])("are held until the source %s", async (_how, end) => {
    const slots = create(1, 0);
    const slot = taken(slots.acquire("alice", undefined, { signal }));
    const source = slot.releaseAfter(sourceOf(1));
    slot.responded();
    expect(slots.taken()).toBe(1);
    await end(source);
    expect(slots.taken()).toBe(0);
  });

  it("are held until the source fails", async () => {
    const slots = create(1, 0);
    const source = taken(slots.acquire("alice", undefined, { signal })).releaseAfter(sourceOf(1, true));
    await source.readInto(buffer);
    expect(slots.taken()).toBe(1);
    await expect(source.readInto(buffer)).rejects.toThrow("broken");
    expect(slots.taken()).toBe(0);
  });

  it("end with the signal on runtimes that tell so of a client that has gone", () => {
    api.usesPonyfill = false;
    const slots = create(3, 0);
    const client = new AbortController();
    const slot = taken(slots.acquire("alice", undefined, client));
    slot.releaseAfter(sourceOf(1));
    slot.responded();
    expect(slots.taken()).toBe(1);
    client.abort();
    expect(slots.taken()).toBe(0);
    taken(slots.acquire("alice", undefined, client)).releaseAfter(sourceOf(1));
    expect(slots.taken()).toBe(0);
  });

  it("are told of in the log once a minute when there are no more of them", () => {
    const logger = createRecordingLogger();
    const slots = create(1, 0, logger);
    for (let turn = 0; turn < 100; turn++) slots.acquire("alice", "192.0.2.1", { signal });
    expect(logger.entries).toHaveLength(1);
    expect(logger.entries[0]).toMatchObject({ level: "warn", details: { account: "alice", transfersPerAccount: 1 } });
    now = 60_000;
    slots.acquire("alice", "192.0.2.1", { signal });
    expect(logger.entries).toHaveLength(2);
  });
});
