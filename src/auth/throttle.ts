import { z } from "zod";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { toNetwork } from "../http/ip-network.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";
import { mapStoreErrors, toStoreKey } from "./store.ts";

/** Whose attempts are counted together. */
export interface Attempter {
  /** Absent for credentials that can be nobody's: they say nothing of any password, and names of which there is no end are not kept. */
  readonly username?: string | undefined;
  /** The peer's, where it is known; of IPv6 its first 64 bits count. */
  readonly address?: string | undefined;
  /** Aborted when the client has gone: an attempt that still waits is not made then. */
  readonly signal?: AbortSignal | undefined;
}

/** What an attempt says of the password: nothing where it was not put to the test. */
export type AttemptResult = "succeeded" | "failed" | "neither";

/**
 * Counts failed logins by user name and by peer address (CONTRACT 6.6). Of several processes on one store each lets as many attempts
 * at once through as are left, and of failures at the same moment the store may keep one; within a process the count is exact.
 */
export interface LoginThrottle {
  /**
   * Runs an attempt to log in, or refuses it unrun: `undefined`. Success forgets the name's failures, never the address's; refused
   * attempts count for nothing. Attempts at once never exceed the failures that are left: the others wait for them.
   * @throws HttpError `unavailable` when the store fails; the reason of an aborted signal; whatever `attempt` throws, uncounted.
   */
  run<T>(who: Attempter, attempt: () => Promise<T>, verify: (result: T) => AttemptResult): Promise<T | undefined>;
}

/** How much is too much, and where it is kept. */
export interface LoginThrottleOptions {
  /** Keeps the counts; of names and addresses it sees the SHA-256 as keys. */
  readonly store: KeyValueStore;
  /** So many failures are allowed within the window. */
  readonly attempts: number;
  readonly windowSeconds: number;
  /** Milliseconds since the epoch, shared by all processes on one store. */
  readonly clock: () => number;
}

/** The times of the failures that count, in milliseconds. */
const failuresSchema = z.array(z.number());

/** Makes the throttle of a service. */
export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { store, attempts, windowSeconds, clock } = options;
  const window = windowSeconds * 1000;
  const withLock = createKeyedMutex();
  const writing = createKeyedMutex();
  /** What runs under each key, and who waits to hear of its end. */
  const running = new Map<string, Set<Promise<void>>>();

  async function readFailures(key: string): Promise<readonly number[]> {
    const failures = failuresSchema.safeParse(await store.get(key)).data ?? [];
    const since = clock() - window;
    return failures.filter((time) => time > since);
  }

  async function addFailure(key: string): Promise<void> {
    const failures = [...(await readFailures(key)), clock()];
    await store.set(key, failures.slice(-attempts), window);
  }

  /** Takes one of a key's free attempts, first come, first served; `undefined` when its failures have used them up. */
  async function enter(key: string, signal: AbortSignal | undefined): Promise<Entry | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      const failures = (await mapStoreErrors(() => readFailures(key))).length;
      if (failures >= attempts) return undefined;
      const others = running.get(key);
      if (failures + (others?.size ?? 0) < attempts) return { failures, leave: acquire(key) };
      await Promise.race(others ?? []);
    }
  }

  function acquire(key: string): () => void {
    const others = running.get(key) ?? new Set();
    running.set(key, others);
    let settle = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      settle = resolve;
    });
    others.add(own);
    return () => {
      others.delete(own);
      if (others.size === 0) running.delete(key);
      settle();
    };
  }

  /** Runs an attempt under one key: counted before its place is free again, so that nobody slips in between. */
  async function runUnder<T>(
    key: string,
    signal: AbortSignal | undefined,
    attempt: () => Promise<T>,
    settle: (result: T, failuresBefore: number) => Promise<void>,
  ): Promise<T | undefined> {
    const entry = await withLock(key, () => enter(key, signal));
    if (entry === undefined) return undefined;
    try {
      const result = await attempt();
      await mapStoreErrors(() => writing(key, () => settle(result, entry.failures)));
      return result;
    } finally {
      entry.leave();
    }
  }

  async function run<T>(
    { username, address, signal }: Attempter,
    attempt: () => Promise<T>,
    verify: (result: T) => AttemptResult,
  ): Promise<T | undefined> {
    const nameKey = username === undefined ? undefined : toStoreKey("failed-logins-of-name", username);
    const addressKey = address === undefined ? undefined : toStoreKey("failed-logins-from", toNetwork(address));

    const underName = (): Promise<T | undefined> =>
      nameKey === undefined
        ? attempt()
        : runUnder(nameKey, signal, attempt, async (result, failuresBefore) => {
            const verdict = verify(result);
            if (verdict === "failed") await addFailure(nameKey);
            if (verdict === "succeeded" && failuresBefore > 0) await store.delete(nameKey);
          });
    if (addressKey === undefined) return underName();
    // The address's place first: who has used up an address, or has many attempts under way, waits there, and not in a place of somebody else's name.
    return runUnder(addressKey, signal, underName, async (result) => {
      if (result !== undefined && verify(result) === "failed") await addFailure(addressKey);
    });
  }

  return { run };
}

/** A place among the attempts of a key. */
interface Entry {
  /** Failures when it was taken. */
  readonly failures: number;
  leave(): void;
}
