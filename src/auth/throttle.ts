import * as z from "zod";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { toNetwork } from "../http/ip-network.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";
import { memoize } from "../platform/memoize.ts";
import { mapLoginStoreErrors, toStoreKey } from "./store.ts";

/** Where an attempt comes from. Attempts are counted by user name and by address. */
export interface AttemptSource {
  /**
   * Absent for credentials that no account can have: such an attempt tests no password, and the store must not fill up
   * with arbitrary names.
   */
  readonly username?: string | undefined;
  /** The peer's address, if known. For IPv6 only the first 64 bits count. */
  readonly address?: string | undefined;
  /** Aborts when the client disconnects: an attempt that still waits is then not made. */
  readonly signal?: AbortSignal | undefined;
}

/** What an attempt shows about the password; `neither` if no method tested it. */
export type AttemptResult = "succeeded" | "failed" | "neither";

/**
 * Counts failed logins by user name and by peer address (CONTRACT 6.6). The count is exact within one process. Several
 * processes on one store count less strictly: each of them runs as many concurrent attempts as are left, and the store
 * may keep only one of several failures at the same moment.
 */
export interface LoginThrottle {
  /**
   * Runs a login attempt, or returns `undefined` without running it when too many have failed. A success clears the
   * failures of the user name, never those of the address. A refused attempt is not counted. The number of concurrent
   * attempts never exceeds the number of failures that are left: further attempts wait.
   * @throws HttpError `unavailable` when the store fails; the reason of an aborted signal; what `attempt` throws, which
   * is not counted.
   */
  run<T>(
    source: AttemptSource,
    attempt: () => Promise<T>,
    toAttemptResult: (result: T) => AttemptResult,
  ): Promise<T | undefined>;
}

/** Options of {@link createLoginThrottle}. */
export interface LoginThrottleOptions {
  /** Keeps the counts. Its keys contain the SHA-256 of names and addresses only. */
  readonly store: KeyValueStore;
  /** How many failures are allowed within the window. */
  readonly attempts: number;
  readonly windowSeconds: number;
  /** Returns milliseconds since the epoch. All processes on one store must agree on it. */
  readonly clock: () => number;
}

/** The times of the failures within the window, in milliseconds. */
const failuresSchema = z.array(z.number());

/** Creates the throttle of a service. */
export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { store, attempts, windowSeconds, clock } = options;
  const window = windowSeconds * 1000;
  const withAcquireLock = createKeyedMutex();
  const withWriteLock = createKeyedMutex();
  /** The running attempts of each key. Each promise resolves when its attempt ends. */
  const running = new Map<string, Set<Promise<void>>>();

  const nameKeyOf = memoize((username) => toStoreKey("failed-logins-of-name", username));
  const addressKeyOf = memoize((address) => toStoreKey("failed-logins-from", toNetwork(address)));

  async function readFailures(key: string): Promise<readonly number[]> {
    const stored = await store.get(key);
    if (stored === undefined) return [];
    const failures = failuresSchema.safeParse(stored).data ?? [];
    const since = clock() - window;
    return failures.filter((time) => time > since);
  }

  async function addFailure(key: string): Promise<void> {
    const failures = [...(await readFailures(key)), clock()];
    await store.set(key, failures.slice(-attempts), window);
  }

  /**
   * Acquires one of a key's attempts, in the order of the calls. Returns `undefined` when the key has too many
   * failures.
   */
  async function acquirePermit(key: string, source: AttemptSource): Promise<Permit | undefined> {
    for (let hasWaited = false; ; hasWaited = true) {
      const failures = (await mapLoginStoreErrors(() => readFailures(key))).length;
      const others = running.get(key);
      // Runtimes make the signal of a request when it is first read: only an attempt that may have waited needs it.
      if (hasWaited || failures >= attempts || others !== undefined) source.signal?.throwIfAborted();
      if (failures >= attempts) return undefined;
      if (failures + (others?.size ?? 0) < attempts) return { failures, release: addRunning(key) };
      await Promise.race(others ?? []);
    }
  }

  function addRunning(key: string): () => void {
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

  /**
   * Runs an attempt under one key. A failure is counted before the permit is released, so no attempt can slip in
   * between.
   */
  async function runUnder<T>(
    key: string,
    source: AttemptSource,
    attempt: () => Promise<T>,
    count: (result: T, failuresBefore: number) => Promise<void>,
  ): Promise<T | undefined> {
    const permit = await withAcquireLock(key, () => acquirePermit(key, source));
    if (permit === undefined) return undefined;
    try {
      const result = await attempt();
      await mapLoginStoreErrors(() => withWriteLock(key, () => count(result, permit.failures)));
      return result;
    } finally {
      permit.release();
    }
  }

  async function run<T>(
    source: AttemptSource,
    attempt: () => Promise<T>,
    toAttemptResult: (result: T) => AttemptResult,
  ): Promise<T | undefined> {
    const { username, address } = source;
    const nameKey = username === undefined ? undefined : nameKeyOf(username);
    const addressKey = address === undefined ? undefined : addressKeyOf(address);

    const underName = (): Promise<T | undefined> =>
      nameKey === undefined
        ? attempt()
        : runUnder(nameKey, source, attempt, async (result, failuresBefore) => {
            const attemptResult = toAttemptResult(result);
            if (attemptResult === "failed") await addFailure(nameKey);
            if (attemptResult === "succeeded" && failuresBefore > 0) await store.delete(nameKey);
          });
    if (addressKey === undefined) return underName();
    // An attack: the permit of the address comes first. A client that has used up its address, or runs many attempts,
    // waits there. If it waited with a permit of the user name, it would block other clients that log in with that
    // name.
    return runUnder(addressKey, source, underName, async (result) => {
      if (result !== undefined && toAttemptResult(result) === "failed") await addFailure(addressKey);
    });
  }

  return { run };
}

/** One of the attempts allowed for a key. */
interface Permit {
  /** The number of failures when the permit was acquired. */
  readonly failures: number;
  release(): void;
}
