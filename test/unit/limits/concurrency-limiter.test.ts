import { beforeEach, describe, expect, it } from "vitest";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  type Permit,
} from "../../../src/limits/concurrency-limiter.ts";
import { createRecordingLogger } from "../../support/logger.ts";

let now = 0;
beforeEach(() => {
  now = 0;
});

function create(perAccount: number, perAddress: number, logger = createRecordingLogger()): ConcurrencyLimiter {
  return createConcurrencyLimiter({
    perAccount: ["transfersPerAccount", perAccount],
    perAddress: ["transfersPerAddress", perAddress],
    refusal: "The limit of concurrent transfers is reached; further ones are rejected.",
    logger,
    clock: () => now,
  });
}

function acquire(limiter: ConcurrencyLimiter, username: string, address?: string, units = 1): Permit | undefined {
  const permit = limiter.createPermit(username, address);
  return permit.acquire(units) ? permit : undefined;
}

function canAcquire(limiter: ConcurrencyLimiter, username: string, address?: string, units = 1): boolean {
  return limiter.createPermit(username, address).canAcquire(units);
}

function granted(permit: Permit | undefined): Permit {
  if (permit === undefined) throw new Error("There was no permit.");
  return permit;
}

/** A source of a number of parts. With `fails` it fails after them. */
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

describe("the permits of a concurrency limiter", () => {
  it("can grow while units are left, and are released as a whole", () => {
    const limiter = create(4, 6);
    const first = granted(acquire(limiter, "alice", "192.0.2.1"));
    expect(first.acquire(3)).toBe(true);
    expect(first.acquire(2), "to fewer units than it has").toBe(true);
    expect(limiter.taken()).toBe(3);
    const second = granted(acquire(limiter, "alice", "192.0.2.1"));
    expect(second.acquire(2), "of an account with none left").toBe(false);
    const other = granted(acquire(limiter, "bob", "192.0.2.1"));
    expect(other.acquire(3), "of an address with none left").toBe(false);
    expect(limiter.taken()).toBe(5);
    first.release();
    expect(limiter.taken()).toBe(2);
    expect(other.acquire(3)).toBe(true);
    second.release();
    other.release();
    expect(limiter.taken()).toBe(0);
  });

  it("can be asked for without being acquired, and without a log entry", () => {
    const logger = createRecordingLogger();
    const limiter = create(3, 4, logger);
    expect(canAcquire(limiter, "alice", "192.0.2.1", 3)).toBe(true);
    const permit = granted(acquire(limiter, "alice", "192.0.2.1"));
    expect([2, 3].map((units) => canAcquire(limiter, "alice", "192.0.2.1", units))).toEqual([true, false]);
    expect(
      [1, 3, 100].map((units) => permit.canAcquire(units)),
      "of its own account",
    ).toEqual([true, true, true]);
    expect(canAcquire(limiter, "bob", "192.0.2.1", 3)).toBe(true);
    expect(permit.acquire(2)).toBe(true);
    expect(canAcquire(limiter, "bob", "192.0.2.1", 3), "of an address with none left").toBe(false);
    const other = granted(acquire(limiter, "alice", "192.0.2.2"));
    expect([2, 3].map((units) => permit.canAcquire(units))).toEqual([true, false]);
    expect(limiter.taken()).toBe(3);
    permit.release();
    other.release();
    expect(canAcquire(limiter, "alice", undefined, 100), "a request counts for at most the limit").toBe(true);
    expect(logger.entries).toEqual([]);
  });

  it("count for at most the whole limit, however many units one transfer needs", () => {
    const limiter = create(3, 2);
    const only = granted(acquire(limiter, "alice", "192.0.2.1"));
    expect(only.acquire(100)).toBe(true);
    expect(canAcquire(limiter, "alice", "192.0.2.2", 1), "of the account").toBe(false);
    expect(canAcquire(limiter, "bob", "192.0.2.1", 1), "of the address").toBe(false);
    expect(canAcquire(limiter, "bob", "192.0.2.2", 1)).toBe(true);
    only.release();
    expect(canAcquire(limiter, "alice", "192.0.2.1", 3)).toBe(true);
    expect(limiter.taken()).toBe(0);
    const unlimited = granted(acquire(create(0, 0), "alice", "192.0.2.1"));
    expect(unlimited.acquire(100)).toBe(true);
  });

  it("count up to each limit separately, so that neither limit hides the other", () => {
    const small = create(1, 10);
    expect(acquire(small, "alice", "192.0.2.1", 8)).toBeDefined();
    expect(acquire(small, "bob", "192.0.2.1", 8), "of an address with 2 left").toBeUndefined();
    expect(acquire(small, "bob", "192.0.2.1", 2)).toBeDefined();
    const wide = create(10, 1);
    const permit = granted(acquire(wide, "alice", "192.0.2.1"));
    expect(permit.acquire(8)).toBe(true);
    expect(acquire(wide, "alice", undefined, 3), "of an account with 2 left").toBeUndefined();
    expect(acquire(wide, "alice", "192.0.2.2", 2)).toBeDefined();
  });

  it("are acquired with all their units or not at all", () => {
    const limiter = create(4, 0);
    const first = granted(acquire(limiter, "alice", undefined, 3));
    expect(acquire(limiter, "alice", undefined, 2)).toBeUndefined();
    expect(first.acquire(4)).toBe(true);
    expect(limiter.taken()).toBe(4);
  });

  it("are limited per account", () => {
    const limiter = create(2, 0);
    const first = acquire(limiter, "alice", "192.0.2.1");
    expect(acquire(limiter, "alice", "192.0.2.2")).toBeDefined();
    expect(acquire(limiter, "alice", "192.0.2.3")).toBeUndefined();
    expect(acquire(limiter, "bob", "192.0.2.1")).toBeDefined();
    first?.release();
    expect(acquire(limiter, "alice")).toBeDefined();
    expect(limiter.taken()).toBe(3);
  });

  it("are limited per address, for all accounts together; a refusal by the address costs the account nothing", () => {
    const limiter = create(2, 1);
    expect(acquire(limiter, "alice", "192.0.2.1")).toBeDefined();
    for (let turn = 0; turn < 5; turn++) expect(acquire(limiter, "bob", "192.0.2.1")).toBeUndefined();
    expect(acquire(limiter, "bob", "192.0.2.2")).toBeDefined();
    expect(acquire(limiter, "bob", "192.0.2.3")).toBeDefined();
    expect(acquire(limiter, "bob", "192.0.2.4")).toBeUndefined();
  });

  it("count IPv6 addresses by their first 64 bits, and unknown addresses not at all", () => {
    const limiter = create(0, 1);
    expect(acquire(limiter, "a", "2001:db8:1:2::1")).toBeDefined();
    expect(acquire(limiter, "b", "2001:db8:1:2:ffff::2")).toBeUndefined();
    expect(acquire(limiter, "b", "2001:db8:1:3::1")).toBeDefined();
    for (let turn = 0; turn < 5; turn++) expect(acquire(limiter, "c")).toBeDefined();
  });

  it("are given back once, however often they are released", () => {
    const limiter = create(1, 0);
    const permit = granted(acquire(limiter, "alice"));
    permit.release();
    const next = acquire(limiter, "alice");
    permit.release();
    permit.responded();
    expect(next).toBeDefined();
    expect(acquire(limiter, "alice")).toBeUndefined();
    expect(limiter.taken()).toBe(1);
  });

  it("are released with a response that has no source", () => {
    const limiter = create(1, 0);
    granted(acquire(limiter, "alice")).responded();
    expect(limiter.taken()).toBe(0);
  });

  it.each<[string, (source: ByteSource) => Promise<unknown>]>([
    ["is read to its end", async (source) => [await source.readInto(buffer), await source.readInto(buffer)]],
    ["is closed", (source) => source.close()],
    [
      "is closed midway, twice",
      async (source) => [await source.readInto(buffer), await source.close(), await source.close()],
    ],
  ])("are held until the source %s", async (_how, end) => {
    const limiter = create(1, 0);
    const permit = granted(acquire(limiter, "alice"));
    const source = permit.releaseAfter(sourceOf(1));
    permit.responded();
    expect(limiter.taken()).toBe(1);
    await end(source);
    expect(limiter.taken()).toBe(0);
  });

  it("are held until the source fails", async () => {
    const limiter = create(1, 0);
    const source = granted(acquire(limiter, "alice")).releaseAfter(sourceOf(1, true));
    await source.readInto(buffer);
    expect(limiter.taken()).toBe(1);
    await expect(source.readInto(buffer)).rejects.toThrow("broken");
    expect(limiter.taken()).toBe(0);
  });

  it("log a warning at most once a minute when a limit is reached", () => {
    const logger = createRecordingLogger();
    const limiter = create(1, 0, logger);
    for (let turn = 0; turn < 100; turn++) acquire(limiter, "alice", "192.0.2.1");
    expect(logger.entries).toHaveLength(1);
    expect(logger.entries[0]).toMatchObject({ level: "warn", details: { account: "alice", transfersPerAccount: 1 } });
    now = 60_000;
    acquire(limiter, "alice", "192.0.2.1");
    expect(logger.entries).toHaveLength(2);
  });
});
