import type { ServiceConfig } from "../config/service-config.ts";
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  type NamedLimit,
  type Permit,
} from "./concurrency-limiter.ts";

/** The permits of one request. */
export interface RequestPermits {
  /** Counts the request among the concurrent transfers. */
  readonly transferPermit: Permit;
  /** Counts the bytes that the service holds for a page or an archive; one unit is one byte. */
  readonly pagePermit: Permit;
}

type LimitOption =
  | "transfersPerAccount"
  | "transfersPerAddress"
  | "pageBytesPerAccount"
  | "pageBytesPerAddress"
  | "pageBytesPerProcess";

/** Makes the function that creates the permits of a service's requests. */
export function createRequestPermits({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toLimiter("limit of concurrent transfers", "transfersPerAccount", "transfersPerAddress");
  const pages = toLimiter(
    "memory limit for pages and archives",
    "pageBytesPerAccount",
    "pageBytesPerAddress",
    "pageBytesPerProcess",
  );

  /** Returns `undefined` if no limit is set. */
  function toLimiter(
    name: string,
    accountOption: LimitOption,
    addressOption: LimitOption,
    processOption?: LimitOption,
  ): ConcurrencyLimiter | undefined {
    const [accountLimit, addressLimit] = [limits[accountOption], limits[addressOption]];
    const processLimit = processOption === undefined ? 0 : limits[processOption];
    const isUnlimited = [accountLimit, addressLimit, processLimit, limits.transfersPerLink].every((one) => one === 0);
    if (isUnlimited) return undefined;
    const refusal = `The ${name} is reached; further ones are rejected.`;
    return createConcurrencyLimiter({
      perAccount: [accountOption, accountLimit],
      perAddress: [addressOption, addressLimit],
      ...(processOption !== undefined && { perProcess: [processOption, processLimit] }),
      refusal,
      logger,
      clock,
    });
  }

  const ofLink: NamedLimit = ["transfersPerLink", limits.transfersPerLink];

  /** `holder`: the folded name of an account, or the ID of a link. */
  return (holder: string, address: string | undefined, isLink = false): RequestPermits => ({
    transferPermit: transfers?.createPermit(holder, address, isLink ? ofLink : undefined) ?? UNLIMITED,
    pagePermit: pages?.createPermit(holder, address) ?? UNLIMITED,
  });
}

/** The permit of every request if nothing is limited. */
const UNLIMITED: Permit = {
  isTaken: () => false,
  canAcquire: () => true,
  acquire: () => true,
  releaseAfter: (source) => source,
  responded: () => undefined,
  release: () => undefined,
};
