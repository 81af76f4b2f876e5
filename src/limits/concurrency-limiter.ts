import { type ByteSource, tap } from "../contracts/byte-source.ts";
import type { Logger } from "../contracts/logger.ts";
import { toNetwork } from "../http/ip-network.ts";

/**
 * What one request holds of the limits of its account and its address: the units of a transfer, or the bytes of a page.
 */
export interface Permit {
  /** Whether {@link grow} to `total` units would succeed now. */
  canGrow(total: number): boolean;
  /** Raises the permit to `total` units. Returns false if they are not available, or the permit is released. */
  grow(total: number): boolean;
  /**
   * Returns the source, and releases the permit when the source ends, fails or is closed.
   * If `releaseAfter` is not called, {@link responded} releases the permit.
   */
  releaseAfter(source: ByteSource): ByteSource;
  /** The response is made. Releases the permit unless a source still holds it. */
  responded(): void;
  /** Releases the permit. May be called more than once. */
  release(): void;
}

/**
 * Limits what happens concurrently in this process, per account and per address: transfers, or the bytes held for
 * pages. One request counts for at most the whole limit, so a request that needs more runs alone instead of never.
 */
export interface ConcurrencyLimiter {
  /** Acquires a permit of `units` (default 1). Returns `undefined`, and logs a warning, if they are not available. */
  acquire(username: string, address: string | undefined, units?: number): Permit | undefined;
  /** Whether {@link acquire} would succeed now. Logs nothing. */
  canAcquire(username: string, address: string | undefined, units: number): boolean;
  /** The sum of units of all permits. A permit counts with all its units here, even above a limit. */
  taken(): number;
}

/** Options of {@link createConcurrencyLimiter}. */
export interface ConcurrencyLimiterOptions {
  readonly perAccount: NamedLimit;
  readonly perAddress: NamedLimit;
  /** The message of the warning when a limit is reached. */
  readonly refusal: string;
  readonly logger: Pick<Logger, "warn">;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** The option's name and the limit; 0 for no limit. */
type NamedLimit = readonly [name: string, limit: number];

/** The shortest time between two warnings: a refused client may retry immediately. */
const WARN_INTERVAL_MS = 60_000;

/** The structured part of a log entry. */
type Details = Readonly<Record<string, unknown>>;

/** Makes a limiter. Addresses are grouped by network: IPv6 counts by its first 64 bits. */
export function createConcurrencyLimiter({
  perAccount,
  perAddress,
  refusal,
  logger,
  clock,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const [accountLimitName, accountLimit] = perAccount;
  const [addressLimitName, addressLimit] = perAddress;
  const accounts = createUsage(accountLimit);
  const networks = createUsage(addressLimit);
  let taken = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function warn(details: Details): void {
    const now = clock();
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    warnedAt = now;
    logger.warn(details, refusal);
  }

  /** The limit that prevents a permit from growing from `from` to `to` units, as the log shows it. */
  function findReachedLimit(
    username: string,
    network: string | undefined,
    from: number,
    to: number,
  ): Details | undefined {
    if (!accounts.canChange(username, from, to)) return { account: username, [accountLimitName]: accountLimit };
    if (network !== undefined && !networks.canChange(network, from, to))
      return { address: network, [addressLimitName]: addressLimit };
    return undefined;
  }

  function tryChange(username: string, network: string | undefined, from: number, to: number): boolean {
    const reached = findReachedLimit(username, network, from, to);
    if (reached !== undefined) {
      warn(reached);
      return false;
    }
    change(username, network, from, to);
    return true;
  }

  function change(username: string, network: string | undefined, from: number, to: number): void {
    accounts.change(username, from, to);
    if (network !== undefined) networks.change(network, from, to);
    taken += to - from;
  }

  const canAcquire: ConcurrencyLimiter["canAcquire"] = (username, address, units) =>
    findReachedLimit(username, findNetwork(address), 0, units) === undefined;

  const acquire: ConcurrencyLimiter["acquire"] = (username, address, initialUnits = 1) => {
    const network = findNetwork(address);
    if (!tryChange(username, network, 0, initialUnits)) return undefined;
    let units = initialUnits;
    let isReleased = false;

    function canGrow(total: number): boolean {
      return total <= units || findReachedLimit(username, network, units, total) === undefined;
    }

    function grow(total: number): boolean {
      if (isReleased) return false;
      if (total <= units) return true;
      if (!tryChange(username, network, units, total)) return false;
      units = total;
      return true;
    }

    function giveBack(): void {
      isReleased = true;
      change(username, network, units, 0);
    }

    return { ...createRelease(giveBack), canGrow, grow };
  };

  return { acquire, canAcquire, taken: () => taken };
}

function findNetwork(address: string | undefined): string | undefined {
  return address === undefined ? undefined : toNetwork(address);
}

/** Sums the units of permits by a key. Each permit counts for at most `limit`, so the first one always fits. */
function createUsage(limit: number) {
  const sums = new Map<string, number>();

  function difference(from: number, to: number): number {
    return Math.min(to, limit) - Math.min(from, limit);
  }

  function canChange(key: string, from: number, to: number): boolean {
    return limit === 0 || (sums.get(key) ?? 0) + difference(from, to) <= limit;
  }

  function change(key: string, from: number, to: number): void {
    if (limit === 0) return;
    const sum = (sums.get(key) ?? 0) + difference(from, to);
    if (sum > 0) sums.set(key, sum);
    else sums.delete(key);
  }

  return { canChange, change };
}

/** The part of a permit that decides when it is released; calls `giveBack` once. */
function createRelease(giveBack: () => void): Pick<Permit, "releaseAfter" | "responded" | "release"> {
  let isReleased = false;
  let hasSource = false;

  function release(): void {
    if (isReleased) return;
    isReleased = true;
    giveBack();
  }

  function releaseAfter(source: ByteSource): ByteSource {
    hasSource = true;
    return tap(source, { onEnd: release, onError: release, onClose: release });
  }

  function responded(): void {
    if (!hasSource) release();
  }

  return { releaseAfter, responded, release };
}
