import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { createRetryError } from "../http/errors.ts";
import { isLoopShared } from "../platform/event-loop.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";
import { poll } from "../platform/wait.ts";
import type { AttemptKey, AttemptOrigin } from "./attempt-keys.ts";
import { createFailedLogins } from "./failed-logins.ts";
import { createRunningAttempts, type RunningOfKey, type StartedAttempt } from "./running-attempts.ts";

/** Where an attempt comes from, and its request. */
export interface AttemptSource extends AttemptOrigin {
  /**
   * Its signal aborts when the client disconnects: an attempt that still waits is then not made. This is the request
   * and not its signal, because runtimes make the signal when it is first read, and only long waits need it.
   */
  readonly request?: Pick<Request, "signal"> | undefined;
}

/** What an attempt shows about the password; `neither` if no method tested it. */
export type AttemptResult = "succeeded" | "failed" | "neither";

/** The result of an attempt that was not made, because too many have failed. */
export class Throttled {
  /**
   * When the next attempt is possible. Absent if other networks caused the refusal: the client then learns nothing
   * about them.
   */
  readonly retryAfterSeconds: number | undefined;

  constructor(retryAfterSeconds?: number) {
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Counts failed logins (CONTRACT 6.6) by
 *
 * - network;
 * - user name and network;
 * - user name alone, with ten times the limit: a few guesses by strangers cannot lock an account out.
 *
 * Names that differ only in case or spaces count as one, because an authentication method may take them for one
 * account.
 *
 * The count is exact within one process. Several processes on one store count less strictly. Each of them may run the
 * number of concurrent attempts that is left, and the store may keep only one of several failures at the same moment.
 */
export interface LoginThrottle {
  /**
   * Runs a login attempt, or returns {@link Throttled} without running it if too many have failed. A success clears the
   * failures of the user name from this network, never others. A refused attempt is not counted. The number of
   * concurrent attempts never exceeds the number of failures that are left: further attempts wait.
   *
   * If `shortcut` has a result, it is returned and the attempt is not run. Nothing is counted then. The attempt is run
   * nevertheless if attempts in progress could still use up the failures that are left.
   * @throws HttpError `unavailable` when the store fails, or on Workers after a wait of some seconds; the reason of an
   * aborted signal; what `attempt` throws, which is not counted.
   */
  run<T>(
    source: AttemptSource,
    attempt: () => Promise<T>,
    toAttemptResult: (result: T) => AttemptResult,
    shortcut?: Shortcut<T>,
  ): Promise<T | Throttled>;
}

/**
 * A result that may be known without the attempt. Against timing attacks, every attempt of a kind gets a shortcut, even
 * if nothing is known for it. Until the result, all of them do the same in the same order, so a client cannot see for
 * which password something is known.
 */
export interface Shortcut<T> {
  /** Whether the result is known. Other attempts are guesses, which count before a known result is returned. */
  readonly isKnown: boolean;
  /** Returns the known result; `undefined` if there is none, or it is not valid any more. */
  take(): Promise<T | undefined>;
}

/** Options of {@link createLoginThrottle}. */
export interface LoginThrottleOptions {
  /** Keeps the counts. Its keys contain the SHA-256 of names and addresses only. */
  readonly store: KeyValueStore;
  /** How many failures are allowed within the window; ten times as many for a user name from all networks. */
  readonly attempts: number;
  readonly windowSeconds: number;
  /** Returns milliseconds since the epoch. All processes on one store must agree on it. */
  readonly clock: () => number;
}

const LONG_WAIT_MS = 100;
/** How many times the limit counts for a user name from all networks. */
const NAME_FACTOR = 10;

/** Creates the throttle of a service. */
export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { store, attempts, windowSeconds, clock } = options;
  const window = windowSeconds * 1000;
  const failed = createFailedLogins({ store, window, clock });
  const withAcquireLock = createKeyedMutex();
  const runningAttempts = createRunningAttempts();

  function toLimit({ kind }: AttemptKey): number {
    return kind === "name" ? NAME_FACTOR * attempts : attempts;
  }

  /** The refusal of an attempt with too many failures under one of its keys. */
  function toThrottled(key: AttemptKey, failures: readonly number[]): Throttled {
    if (key.kind === "name") return new Throttled();
    const first = failures[failures.length - toLimit(key)] ?? clock();
    return new Throttled(Math.max(1, Math.ceil((first + window - clock()) / 1000)));
  }

  /**
   * Returns whether an attempt can be made now: not when too many have failed; `busy` when guesses that came before
   * could still use up the failures that are left.
   */
  async function check(all: readonly StartedAttempt[]): Promise<"free" | "busy" | Throttled> {
    for (const started of all) {
      const failures = await failed.read(started.key);
      const left = toLimit(started) - failures.length;
      if (left <= 0) return toThrottled(started, failures);
      if (started.guessesBefore >= left) return "busy";
    }
    return "free";
  }

  /**
   * Acquires one of a key's attempts, in the order of the calls, unless the key has too many failures. `stop` is called
   * before each step, and ends the wait by throwing.
   */
  async function acquirePermit(started: StartedAttempt, stop: () => void): Promise<Permit | Throttled> {
    const { kind, key, running } = started;
    for (;;) {
      stop();
      const failures = await failed.read(key);
      const left = toLimit(started) - failures.length;
      if (left <= 0) return toThrottled(started, failures);
      if (running.permits < left) {
        running.permits += 1;
        running.permittedAt = Date.now();
        return { kind, key, running, hasFailures: failures.length > 0 };
      }
      await waitForPermit(running, left);
    }
  }

  /** Lets the one attempt go on that waits for the key: others wait for its lock. */
  function releasePermit({ running }: Permit): void {
    running.permits = Math.max(0, running.permits - 1);
    running.waiter?.();
  }

  /** Counts the result of an attempt under one of its keys. */
  async function count(permit: Permit, result: AttemptResult): Promise<void> {
    const { kind, key, hasFailures } = permit;
    if (result === "failed") await failed.add(key, toLimit(permit));
    else if (result === "succeeded" && kind === "pair" && hasFailures) await failed.clear(key);
  }

  function throwIfDisconnected(source: AttemptSource, startedAt: number): void {
    if (clock() - startedAt >= LONG_WAIT_MS) source.request?.signal.throwIfAborted();
  }

  async function run<T>(
    source: AttemptSource,
    attempt: () => Promise<T>,
    toAttemptResult: (result: T) => AttemptResult,
    shortcut?: Shortcut<T>,
  ): Promise<T | Throttled> {
    const startedAt = clock();
    const all = runningAttempts.start(source, shortcut?.isKnown !== true);
    try {
      const state = shortcut && (await check(all));
      if (state instanceof Throttled) return state;
      const known = state === "free" ? await shortcut?.take() : undefined;
      if (known !== undefined) return known;
      // A guess that need not wait is made and counted, even if the client disconnects. Otherwise a client could guess
      // for free: a right password has its response at once, so it could disconnect if none comes.
      const stop = state === "free" ? () => undefined : () => throwIfDisconnected(source, startedAt);
      return await runWithPermits(all, stop, attempt, toAttemptResult);
    } finally {
      runningAttempts.end(all);
    }
  }

  async function runWithPermits<T>(
    all: readonly StartedAttempt[],
    stop: () => void,
    attempt: () => Promise<T>,
    toAttemptResult: (result: T) => AttemptResult,
  ): Promise<T | Throttled> {
    const permits: Permit[] = [];
    try {
      for (const started of all) {
        const permit = await withAcquireLock(started.key, () => acquirePermit(started, stop));
        if (permit instanceof Throttled) return permit;
        permits.push(permit);
      }
      const result = await attempt();
      const attemptResult = toAttemptResult(result);
      // A failure is counted before the permits are released, so no attempt can slip in between.
      for (const permit of permits.toReversed()) await count(permit, attemptResult);
      return result;
    } finally {
      permits.forEach(releasePermit);
    }
  }

  return { run };
}

/** On Workers no attempt takes as long: the runtime has ended its request. */
const LOST_MS = 120_000;

/** Waits until a key has fewer than `left` permits. @throws HttpError `unavailable` if it takes long on Workers. */
async function waitForPermit(running: RunningOfKey, left: number): Promise<void> {
  if (isLoopShared) {
    await new Promise<void>((resolve) => {
      running.waiter = resolve;
    });
  } else if (!(await poll(() => running.permits < left))) {
    if (Date.now() - running.permittedAt < LOST_MS) throw createRetryError("too-many-logins");
    running.permits = 0;
  }
}

/** One of the attempts allowed for a key. */
interface Permit extends AttemptKey {
  readonly running: RunningOfKey;
  /** Whether there were failures when the permit was acquired. */
  readonly hasFailures: boolean;
}
