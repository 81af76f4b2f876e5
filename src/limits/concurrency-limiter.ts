import { type ByteSource, tap } from "../contracts/byte-source.ts";
import type { Logger } from "../contracts/logger.ts";
import { toNetwork } from "../http/ip-network.ts";
import { usesPonyfill } from "../http/source-response.ts";

/** What one request has of the places of its account and its address: a transfer's one or more, or a page's bytes. */
export interface Permit {
  /** Whether `widen` would find them now. */
  canGrow(permits: number): boolean;
  /** Takes so many places in all, or as many as anybody may have; false when others have them, or the slot is free again. */
  grow(permits: number): boolean;
  /**
   * The same source; the slot is free when it ends, however it does: read to its end, failed, let go of, or the client gone. Without it a slot is
   * free with the answer.
   */
  releaseAfter(source: ByteSource): ByteSource;
  /** The request has its answer: only a source that is held keeps the slot. */
  responded(): void;
  /** Frees the slot; once is enough. */
  release(): void;
}

/** Counts what is under way in this process: transfers, or the bytes that are held for pages. */
export interface ConcurrencyLimiter {
  /** Takes a slot of so many places, one by default, of an account, and of an address where one is known; `undefined` when either has not got them. */
  acquire(
    username: string,
    address: string | undefined,
    request: Pick<Request, "signal">,
    permits?: number,
  ): Permit | undefined;
  /** Whether so many places, or as many as anybody may have, are left for a request that has none yet. */
  canAcquire(username: string, address: string | undefined, permits: number): boolean;
  /** How many places requests have, all that they want among them. */
  taken(): number;
}

/** How much is too much. */
export interface ConcurrencyLimiterOptions {
  readonly perAccount: NamedLimit;
  readonly perAddress: NamedLimit;
  /** What the log is told of a refusal. */
  readonly refusal: string;
  readonly logger: Pick<Logger, "warn">;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** 0: any number. */
type NamedLimit = readonly [name: string, most: number];

/** Refusals are in the log this often at most: who is refused may try again at once. */
const WARN_EVERY_MS = 60_000;

/** What the log is told of a refusal. */
type Details = Readonly<Record<string, unknown>>;

/** Makes slots of a service. */
export function createConcurrencyLimiter({
  perAccount,
  perAddress,
  refusal,
  logger,
  clock,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const [nameOfAccounts, mostOfAccount] = perAccount;
  const [nameOfAddresses, mostOfAddress] = perAddress;
  const ofAccount = createCounters(mostOfAccount);
  const ofAddress = createCounters(mostOfAddress);
  let taken = 0;
  let warned = Number.NEGATIVE_INFINITY;

  function warn(details: Details): void {
    const now = clock();
    if (now - warned < WARN_EVERY_MS) return;
    warned = now;
    logger.warn(details, refusal);
  }

  /** What there is too much of, for a request that has so many places and wants so many. */
  function findExcess(username: string, network: string | undefined, has: number, wants: number): Details | undefined {
    if (!ofAccount.canGrow(username, has, wants)) return { account: username, [nameOfAccounts]: mostOfAccount };
    if (network !== undefined && !ofAddress.canGrow(network, has, wants))
      return { address: network, [nameOfAddresses]: mostOfAddress };
    return undefined;
  }

  function enter(username: string, network: string | undefined, has: number, wants: number): boolean {
    const excess = findExcess(username, network, has, wants);
    if (excess !== undefined) {
      warn(excess);
      return false;
    }
    change(username, network, has, wants);
    return true;
  }

  function change(username: string, network: string | undefined, from: number, to: number): void {
    ofAccount.change(username, from, to);
    if (network !== undefined) ofAddress.change(network, from, to);
    taken += to - from;
  }

  const canAcquire: ConcurrencyLimiter["canAcquire"] = (username, address, permits) =>
    findExcess(username, findNetwork(address), 0, permits) === undefined;

  const acquire: ConcurrencyLimiter["acquire"] = (username, address, request, wanted = 1) => {
    const network = findNetwork(address);
    if (!enter(username, network, 0, wanted)) return undefined;
    let permits = wanted;
    let isFree = false;

    function canGrow(wanted: number): boolean {
      return wanted <= permits || findExcess(username, network, permits, wanted) === undefined;
    }

    function grow(wanted: number): boolean {
      if (isFree) return false;
      if (wanted <= permits) return true;
      if (!enter(username, network, permits, wanted)) return false;
      permits = wanted;
      return true;
    }

    function free(): void {
      isFree = true;
      change(username, network, permits, 0);
    }

    return { ...createPermit(request, free), canGrow, grow };
  };

  return { acquire, canAcquire, taken: () => taken };
}

function findNetwork(address: string | undefined): string | undefined {
  return address === undefined ? undefined : toNetwork(address);
}

/** Counts places by keys; nobody's count for more than the most that there may be, so that one alone is always let in. */
function createCounters(most: number) {
  const counts = new Map<string, number>();

  function difference(from: number, to: number): number {
    return Math.min(to, most) - Math.min(from, most);
  }

  function canGrow(key: string, has: number, wants: number): boolean {
    return most === 0 || (counts.get(key) ?? 0) + difference(has, wants) <= most;
  }

  function change(key: string, from: number, to: number): void {
    if (most === 0) return;
    const count = (counts.get(key) ?? 0) + difference(from, to);
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }

  return { canGrow, change };
}

function createPermit(request: Pick<Request, "signal">, free: () => void): Omit<Permit, "canGrow" | "grow"> {
  let isFree = false;
  let isHeld = false;

  function release(): void {
    if (isFree) return;
    isFree = true;
    // Where the light fetch API is in use, a client that has gone lets go of the source; a signal costs more than all this.
    if (isHeld && !usesPonyfill) request.signal.removeEventListener("abort", release);
    free();
  }

  function releaseAfter(source: ByteSource): ByteSource {
    isHeld = true;
    if (!usesPonyfill) {
      if (request.signal.aborted) release();
      else request.signal.addEventListener("abort", release, { once: true });
    }
    return tap(source, { onEnd: release, onError: release, onClose: release });
  }

  return {
    releaseAfter,
    release,
    responded: () => {
      if (!isHeld) release();
    },
  };
}
