import { wait } from "../../platform/wait.ts";
import type { S3Credentials, S3Settings } from "./options.ts";

/** The source of the keys that requests are signed with. */
export interface S3KeySource {
  /** Returns the current keys. Rejects with the provider's error, or with the signal's reason if it aborts. */
  current(signal?: AbortSignal): Promise<S3Credentials>;
  /** Reports that the store rejected these keys as expired. Returns whether a retry may help. */
  refuse(credentials: S3Credentials): boolean;
}

/** New keys are requested this long before the current ones expire. */
const EARLY_MS = 300_000;
/** Minimum interval between two requests to a provider that fails or returns keys that the store rejects. */
const LEAST_AGE_MS = 10_000;

/**
 * Creates the key source of the settings: fixed keys, or those of the provider.
 *
 * All waiting callers share one request to the provider, which may take `headersTimeout` at most. If the provider
 * fails, the previous keys stay valid until they expire.
 */
export function createKeySource({
  credentials,
  clock,
  headersTimeout,
}: Pick<S3Settings, "credentials" | "clock" | "headersTimeout">): S3KeySource {
  if (typeof credentials !== "function") return { current: async () => credentials, refuse: () => false };
  const ask = credentials;
  let found: S3Credentials | undefined;
  let isRefused = false;
  let failure: { readonly error: unknown } | undefined;
  let asking: Promise<void> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;

  async function current(signal?: AbortSignal): Promise<S3Credentials> {
    if (isDue() && clock() - endedAt >= LEAST_AGE_MS) asking ??= renew();
    if (isDue() && asking !== undefined) await untilAborted(asking, signal);
    if (found !== undefined && (failure === undefined || clock() < toEnd(found))) return found;
    throw failure?.error ?? new TypeError("The credentials have no keys.");
  }

  function isDue(): boolean {
    return found === undefined || isRefused || clock() + EARLY_MS >= toEnd(found);
  }

  /** Requests new keys. Never rejects. */
  async function renew(): Promise<void> {
    const timer = new AbortController();
    const late = wait(headersTimeout, timer.signal).then(() => {
      throw new DOMException("The credentials were not provided in time.", "TimeoutError");
    });
    try {
      await Promise.race([fetchKeys(), late]);
      failure = undefined;
    } catch (error) {
      failure = { error };
    } finally {
      timer.abort();
      endedAt = clock();
      asking = undefined;
    }
  }

  async function fetchKeys(): Promise<void> {
    const previous = found;
    const keys = await ask();
    if (!keys?.accessKeyId || !keys.secretAccessKey) throw new TypeError("The credentials have no keys.");
    // A late result may be older than one that arrived meanwhile.
    if (found !== previous) return;
    found = keys;
    isRefused = false;
  }

  function refuse(refused: S3Credentials): boolean {
    if (refused !== found) return true;
    if (clock() - endedAt < LEAST_AGE_MS) return false;
    isRefused = true;
    return true;
  }

  return { current, refuse };
}

function toEnd({ expiration }: S3Credentials): number {
  return expiration?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** Waits for a promise that never rejects. Rejects with the signal's reason if the signal aborts. */
function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    void work.then(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
  });
}
