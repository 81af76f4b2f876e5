import { type ByteSource, tap } from "../contracts/byte-source.ts";
import type { Logger } from "../contracts/logger.ts";
import { toNetwork } from "../http/ip-network.ts";

/**
 * What one request holds of the limits of its account and its address: the units of a transfer, or the bytes of a page.
 * It holds nothing until the first {@link acquire}.
 */
export interface Permit {
  /** Whether units are held. */
  isTaken(): boolean;
  /** Whether {@link acquire} would succeed now. Acquires and logs nothing. */
  canAcquire(total?: number): boolean;
  /**
   * Acquires `total` units in total (default 1). Returns false if they are not available, and logs a warning, or if the
   * permit is released.
   */
  acquire(total?: number): boolean;
  /**
   * Returns the source, and releases the permit when the source ends, fails or is closed. If `releaseAfter` is not
   * called, {@link responded} releases the permit.
   */
  releaseAfter(source: ByteSource): ByteSource;
  /** The response is made. Releases the permit unless a source still holds it. */
  responded(): void;
  /** Releases what was acquired. May be called more than once. */
  release(): void;
}

/**
 * Limits what happens concurrently in this process, per account, per address and in all: transfers, or the bytes held
 * for pages. One request counts for at most the whole limit, so a request that needs more runs alone instead of never.
 */
export interface ConcurrencyLimiter {
  /** Makes the permit of a request. `limit` replaces that of accounts, for a name that no account has. */
  createPermit(username: string, address: string | undefined, limit?: NamedLimit): Permit;
  /** The sum of units of all permits. A permit counts with all its units here, even above a limit. */
  taken(): number;
}

/** Options of {@link createConcurrencyLimiter}. */
export interface ConcurrencyLimiterOptions {
  readonly perAccount: NamedLimit;
  readonly perAddress: NamedLimit;
  /** For all accounts and addresses together. Default: no limit. */
  readonly perProcess?: NamedLimit;
  /** The message of the warning when a limit is reached. */
  readonly refusal: string;
  readonly logger: Pick<Logger, "warn">;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** The option's name and the limit; 0 for no limit. */
export type NamedLimit = readonly [name: string, limit: number];

/** The shortest time between two warnings: a refused client may retry immediately. */
const WARN_INTERVAL_MS = 60_000;

/** The structured part of a log entry. */
type Details = Readonly<Record<string, unknown>>;

/** Makes a limiter. Addresses are grouped by network: IPv6 counts by its first 64 bits. */
export function createConcurrencyLimiter({
  perAccount,
  perAddress,
  perProcess = ["", 0],
  refusal,
  logger,
  clock,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const [addressLimitName, addressLimit] = perAddress;
  const [processLimitName, processLimit] = perProcess;
  const accounts = createUsage();
  const networks = createUsage();
  const all = createUsage();
  let taken = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function warn(details: Details): void {
    const now = clock();
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    warnedAt = now;
    logger.warn(details, refusal);
  }

  /** The limit that prevents a permit from growing from `from` to `to` units, as the log shows it. */
  function findReachedLimit({ username, network, limit }: Holder, from: number, to: number): Details | undefined {
    const [limitName, accountLimit] = limit;
    if (!accounts.canChange(username, accountLimit, from, to)) return { account: username, [limitName]: accountLimit };
    if (network !== undefined && !networks.canChange(network, addressLimit, from, to))
      return { address: network, [addressLimitName]: addressLimit };
    if (!all.canChange("", processLimit, from, to)) return { [processLimitName]: processLimit };
    return undefined;
  }

  const pool: Pool = {
    canChange: (holder, from, to) => findReachedLimit(holder, from, to) === undefined,
    tryChange(holder, from, to) {
      const reached = findReachedLimit(holder, from, to);
      if (reached === undefined) pool.change(holder, from, to);
      else warn(reached);
      return reached === undefined;
    },
    change({ username, network, limit }, from, to) {
      accounts.change(username, limit[1], from, to);
      if (network !== undefined) networks.change(network, addressLimit, from, to);
      all.change("", processLimit, from, to);
      taken += to - from;
    },
  };

  function createPermit(username: string, address: string | undefined, limit = perAccount): Permit {
    const network = address === undefined ? undefined : toNetwork(address);
    return new PooledPermit(pool, { username, network, limit });
  }

  return { createPermit, taken: () => taken };
}

/** The account and the network whose limits a permit counts towards. */
interface Holder {
  readonly username: string;
  readonly network: string | undefined;
  /** The limit of the name. */
  readonly limit: NamedLimit;
}

/** The units of all permits. A permit changes its own from one number to another. */
interface Pool {
  canChange(holder: Holder, from: number, to: number): boolean;
  /** Returns false, and logs a warning, if a limit is reached. */
  tryChange(holder: Holder, from: number, to: number): boolean;
  change(holder: Holder, from: number, to: number): void;
}

/** A class, because every request makes three permits, and an object of functions costs ten times as much. */
class PooledPermit implements Permit {
  readonly #pool: Pool;
  readonly #holder: Holder;
  #units = 0;
  #isReleased = false;
  #hasSource = false;

  constructor(pool: Pool, holder: Holder) {
    this.#pool = pool;
    this.#holder = holder;
  }

  isTaken(): boolean {
    return this.#units > 0;
  }

  canAcquire(total = 1): boolean {
    return total <= this.#units || this.#pool.canChange(this.#holder, this.#units, total);
  }

  acquire(total = 1): boolean {
    if (this.#isReleased) return false;
    if (total <= this.#units) return true;
    if (!this.#pool.tryChange(this.#holder, this.#units, total)) return false;
    this.#units = total;
    return true;
  }

  releaseAfter(source: ByteSource): ByteSource {
    if (!this.isTaken()) return source;
    this.#hasSource = true;
    const release = (): void => this.release();
    return tap(source, { onEnd: release, onError: release, onClose: release });
  }

  responded(): void {
    if (!this.#hasSource) this.release();
  }

  release(): void {
    if (!this.isTaken()) return;
    this.#pool.change(this.#holder, this.#units, 0);
    this.#units = 0;
    this.#isReleased = true;
  }
}

/** Sums the units of permits by a key. Each permit counts for at most `limit`, so the first one always fits. */
function createUsage() {
  const sums = new Map<string, number>();

  function difference(limit: number, from: number, to: number): number {
    return Math.min(to, limit) - Math.min(from, limit);
  }

  function canChange(key: string, limit: number, from: number, to: number): boolean {
    return limit === 0 || (sums.get(key) ?? 0) + difference(limit, from, to) <= limit;
  }

  function change(key: string, limit: number, from: number, to: number): void {
    if (limit === 0) return;
    const sum = (sums.get(key) ?? 0) + difference(limit, from, to);
    if (sum > 0) sums.set(key, sum);
    else sums.delete(key);
  }

  return { canChange, change };
}
