import { failureOf } from "./failure.ts";
import { openSharedStore, type SharedStoreLocation } from "./shared-store.ts";

const TIMEOUT_MS = 5000;
/** Probes within this time after an answer get the same one: they must not load the storage. */
const REUSE_MS = 1000;

/** Whether a service can work now, for `/ready`. */
export interface Readiness {
  /** The service listens, or is stopping. Before the first call it is starting. */
  enter(state: "listening" | "stopping"): void;
  /** Why the service cannot work, a line each; none if it can. Never rejects. */
  findReasons(): Promise<readonly string[]>;
}

/** What a probe asks. */
interface Probed {
  /** Why the processes that serve cannot, while the service listens; `undefined` if they can. Default: they can. */
  readonly findServingProblem?: () => string | undefined;
  readonly probeStorage?: (() => Promise<void>) | undefined;
  readonly stores: readonly { readonly store: SharedStoreLocation; readonly key: string }[];
}

/**
 * Creates the readiness of a service. Each probe asks the storage, and opens a new connection to each store: it also
 * finds that a store accepts no more connections. `clock` returns milliseconds.
 */
export function createReadiness(probed: Probed, clock: () => number = () => performance.now()): Readiness {
  let state: "starting" | "listening" | "stopping" = "starting";
  let last: { readonly reasons: Promise<readonly string[]>; readonly until: number } | undefined;

  async function findReasons(): Promise<readonly string[]> {
    if (state !== "listening") return [`The service is ${state}.`];
    const problem = probed.findServingProblem?.();
    if (problem !== undefined) return [problem];
    if (last !== undefined && clock() < last.until) return last.reasons;
    const reasons = probe(probed);
    // Probes that come while this one runs wait for it.
    last = { reasons, until: Number.POSITIVE_INFINITY };
    const found = await reasons;
    last = { reasons, until: clock() + REUSE_MS };
    return found;
  }

  function enter(next: "listening" | "stopping"): void {
    state = next;
  }

  return { enter, findReasons };
}

async function probe(probed: Probed): Promise<readonly string[]> {
  const { probeStorage = async () => undefined } = probed;
  const stores = probed.stores.map(async ({ store, key }) => {
    const { close } = await openSharedStore(store, key);
    await close();
  });
  const outcomes = await Promise.allSettled([inTime(probeStorage()), ...stores]);
  return outcomes.flatMap((outcome) => (outcome.status === "rejected" ? toReasons(outcome.reason) : []));
}

function toReasons(error: unknown): readonly string[] {
  return failureOf(error)?.problems ?? [`storage: ${(error as Error).message}`];
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not respond within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
