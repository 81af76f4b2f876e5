import type { S3Credentials, S3Settings } from "./options.ts";
import { wait } from "./retry.ts";

/** Where keys come from. */
export interface S3KeySource {
  /** The keys to sign with now. Rejects with what the provider failed with, and with the signal's reason when it aborts. */
  current(signal?: AbortSignal): Promise<S3Credentials>;
  /** Told that the store calls these expired; whether it may help to ask again. */
  refuse(credentials: S3Credentials): boolean;
}

/** New ones are asked for so long before the old ones end. */
const EARLY_MS = 300_000;
/** A provider that fails, or gives what the store refuses, is not asked more often. */
const LEAST_AGE_MS = 10_000;

/**
 * The keys of the settings: those that stand in them, or what the provider gives, asked once for all who wait, for no longer than the head of
 * an answer is waited for. Where it fails the former keys are good until they end.
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

  /** Never rejects. */
  async function renew(): Promise<void> {
    const timer = new AbortController();
    const late = wait(headersTimeout, timer.signal).then(() => {
      throw new DOMException("The credentials do not come.", "TimeoutError");
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
    // What comes too late may be older than what came meanwhile.
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

/** Waits for what does not reject; rejects with the signal's reason when it aborts. */
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
