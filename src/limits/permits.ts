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

type LimitOption = "transfersPerAccount" | "transfersPerAddress" | "pageBytesPerAccount" | "pageBytesPerAddress";

/** Makes the function that creates the permits of a service's requests. */
export function createRequestPermits({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toLimiter("transfersPerAccount", "transfersPerAddress", "limit of concurrent transfers");
  const pages = toLimiter("pageBytesPerAccount", "pageBytesPerAddress", "memory limit for pages and archives");

  /** Returns `undefined` if neither limit is set. */
  function toLimiter(
    accountOption: LimitOption,
    addressOption: LimitOption,
    name: string,
  ): ConcurrencyLimiter | undefined {
    const [accountLimit, addressLimit] = [limits[accountOption], limits[addressOption]];
    const isUnlimited = accountLimit === 0 && addressLimit === 0 && limits.transfersPerLink === 0;
    if (isUnlimited) return undefined;
    const refusal = `The ${name} is reached; further ones are rejected.`;
    return createConcurrencyLimiter({
      perAccount: [accountOption, accountLimit],
      perAddress: [addressOption, addressLimit],
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
