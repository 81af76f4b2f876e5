import type { ServiceConfig } from "../config/service-config.ts";
import type { ByteSource } from "../contracts/byte-source.ts";
import { type ConcurrencyLimiter, createConcurrencyLimiter, type Permit } from "./concurrency-limiter.ts";

/** The permits of one request. */
export interface RequestPermits {
  /** Counts the request among the concurrent transfers. */
  readonly transferPermit: RequestPermit;
  /** Counts the bytes that the service holds to render a page; one unit is one byte. */
  readonly pagePermit: RequestPermit;
}

/** A permit of one request that holds nothing until the first {@link acquire} (`concurrency-limiter.ts`). */
export interface RequestPermit {
  /** Whether units are held: {@link acquire} has succeeded, and there is a limit. */
  isTaken(): boolean;
  /** Whether {@link acquire} would succeed now. Acquires and logs nothing. */
  canAcquire(total?: number): boolean;
  /** Acquires `total` units in total (default 1). Returns false, and logs a warning, if they are not available. */
  acquire(total?: number): boolean;
  /**
   * Returns the source, and releases what was acquired when the source ends. If `releaseAfter` is not called,
   * {@link responded} releases what was acquired.
   */
  releaseAfter(source: ByteSource): ByteSource;
  /** The response is made. Releases what was acquired unless a source still holds it. */
  responded(): void;
  /** Releases what was acquired. May be called more than once. */
  release(): void;
}

type LimitOption = "transfersPerAccount" | "transfersPerAddress" | "pageBytesPerAccount" | "pageBytesPerAddress";

/** Makes the function that creates the permits of a service's requests. */
export function createRequestPermits({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toLimiter("transfersPerAccount", "transfersPerAddress", "limit of concurrent transfers");
  const pages = toLimiter("pageBytesPerAccount", "pageBytesPerAddress", "memory limit for pages");

  /** Returns `undefined` if neither limit is set. */
  function toLimiter(
    accountOption: LimitOption,
    addressOption: LimitOption,
    name: string,
  ): ConcurrencyLimiter | undefined {
    const [accountLimit, addressLimit] = [limits[accountOption], limits[addressOption]];
    if (accountLimit === 0 && addressLimit === 0) return undefined;
    const refusal = `The ${name} is reached; further ones are rejected.`;
    return createConcurrencyLimiter({
      perAccount: [accountOption, accountLimit],
      perAddress: [addressOption, addressLimit],
      refusal,
      logger,
      clock,
    });
  }

  return (username: string, address: string | undefined): RequestPermits => {
    const toPermit = (limiter: ConcurrencyLimiter | undefined): RequestPermit =>
      limiter === undefined ? UNLIMITED : createRequestPermit(limiter, username, address);
    return { transferPermit: toPermit(transfers), pagePermit: toPermit(pages) };
  };
}

/** The permit of every request if nothing is limited. */
const UNLIMITED: RequestPermit = {
  isTaken: () => false,
  canAcquire: () => true,
  acquire: () => true,
  releaseAfter: (source) => source,
  responded: () => undefined,
  release: () => undefined,
};

function createRequestPermit(
  limiter: ConcurrencyLimiter,
  username: string,
  address: string | undefined,
): RequestPermit {
  let permit: Permit | undefined;

  function canAcquire(total = 1): boolean {
    return permit === undefined ? limiter.canAcquire(username, address, total) : permit.canGrow(total);
  }

  function acquire(total = 1): boolean {
    if (permit !== undefined) return permit.grow(total);
    permit = limiter.acquire(username, address, total);
    return permit !== undefined;
  }

  return {
    isTaken: () => permit !== undefined,
    canAcquire,
    acquire,
    releaseAfter: (source) => (permit === undefined ? source : permit.releaseAfter(source)),
    responded: () => permit?.responded(),
    release: () => permit?.release(),
  };
}
