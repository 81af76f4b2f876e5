import type { ServiceConfig } from "../config/service-config.ts";
import { foldName } from "../contracts/account-name.ts";
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
  /** Counts the bytes of a large body that the service holds, of all requests together. */
  readonly bodyPermit: Permit;
}

/** Whose limits a request counts towards: those of an account, of a link, or of the address alone, before a login. */
export type PermitHolder = { readonly account: string } | { readonly link: string } | "anyone";

/** The memory for the large bodies of all requests together. */
const MAX_HELD_BODY_BYTES = 256 * 1024 * 1024;
const NO_LIMIT: NamedLimit = ["", 0];

type LimitOption =
  | "transfersPerAccount"
  | "transfersPerAddress"
  | "pageBytesPerAccount"
  | "pageBytesPerAddress"
  | "pageBytesPerProcess";

/** Makes the function that creates the permits of a service's requests. */
export function createRequestPermits({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toLimiter("limit of concurrent transfers", "transfersPerAccount", "transfersPerAddress", {
    linkLimit: limits.transfersPerLink,
  });
  const pages = toLimiter("memory limit for pages and archives", "pageBytesPerAccount", "pageBytesPerAddress", {
    processOption: "pageBytesPerProcess",
  });

  const bodies = createConcurrencyLimiter({
    perAccount: NO_LIMIT,
    perAddress: NO_LIMIT,
    perProcess: ["bodyBytes", MAX_HELD_BODY_BYTES],
    refusal: "The memory limit for large request bodies is reached; further ones are rejected.",
    logger,
    clock,
  });

  /** Returns `undefined` if no limit is set. `linkLimit`: the limit of each link, if links have one of their own. */
  function toLimiter(
    name: string,
    accountOption: LimitOption,
    addressOption: LimitOption,
    { processOption, linkLimit = 0 }: { readonly processOption?: LimitOption; readonly linkLimit?: number },
  ): ConcurrencyLimiter | undefined {
    const [accountLimit, addressLimit] = [limits[accountOption], limits[addressOption]];
    const processLimit = processOption === undefined ? 0 : limits[processOption];
    const isUnlimited = [accountLimit, addressLimit, processLimit, linkLimit].every((one) => one === 0);
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

  return (holder: PermitHolder, address: string | undefined): RequestPermits => {
    const [name, limit] = toNameAndLimit(holder);
    return {
      transferPermit: transfers?.createPermit(name, address, limit) ?? UNLIMITED,
      pagePermit: pages?.createPermit(name, address, holder === "anyone" ? NO_LIMIT : undefined) ?? UNLIMITED,
      bodyPermit: bodies.createPermit(name, address),
    };
  };

  function toNameAndLimit(holder: PermitHolder): readonly [name: string, limit?: NamedLimit] {
    if (holder === "anyone") return ["", NO_LIMIT];
    return "link" in holder ? [`link:${holder.link}`, ofLink] : [foldName(holder.account)];
  }
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
