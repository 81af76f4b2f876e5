import type { ServiceConfig } from "../config/service-config.ts";
import type { ByteSource } from "../contracts/byte-source.ts";
import { type ConcurrencyLimiter, createConcurrencyLimiter, type Permit } from "./concurrency-limiter.ts";

/** What a request may have of what there is for its account. */
export interface RequestPermits {
  /** Its place among the transfers under way. */
  readonly transferPermit: RequestPermit;
  /** The bytes that are held of its folder for a page: as many places. */
  readonly pagePermit: RequestPermit;
}

/** Makes the claims of a service's requests. */
export function createRequestPermits({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toLimiter("transfersPerAccount", "transfersPerAddress", "Transfers");
  const pages = toLimiter("pageBytesPerAccount", "pageBytesPerAddress", "Pages");

  /** `undefined` where nothing is to be counted. */
  function toLimiter(ofAccount: CountLimit, ofAddress: CountLimit, what: string): ConcurrencyLimiter | undefined {
    const [perAccount, perAddress] = [limits[ofAccount], limits[ofAddress]];
    if (perAccount === 0 && perAddress === 0) return undefined;
    const refusal = `${what} are refused: there are as many as limits allow.`;
    return createConcurrencyLimiter({
      perAccount: [ofAccount, perAccount],
      perAddress: [ofAddress, perAddress],
      refusal,
      logger,
      clock,
    });
  }

  return (username: string, address: string | undefined, request: Pick<Request, "signal">): RequestPermits => {
    const toPermit = (limiter: ConcurrencyLimiter | undefined): RequestPermit =>
      limiter === undefined ? UNCOUNTED : createRequestPermit(limiter, username, address, request);
    return { transferPermit: toPermit(transfers), pagePermit: toPermit(pages) };
  };
}

type CountLimit = "transfersPerAccount" | "transfersPerAddress" | "pageBytesPerAccount" | "pageBytesPerAddress";

/** What one request has of the places of its account and its address (`concurrency-limiter.ts`): none until it takes some. */
export interface RequestPermit {
  isTaken(): boolean;
  /** Whether `take` would find so many places now, one by default; nothing is taken, and the log hears nothing. */
  canAcquire(permits?: number): boolean;
  /** Takes so many places, one by default, as far as it has not got them; false where they are not left, which the log is told and which is to be refused. */
  acquire(permits?: number): boolean;
  /** The same source, which keeps what has been taken until it ends. Without it that is free with the answer. */
  releaseAfter(source: ByteSource): ByteSource;
  /** The request has its answer: only a source that is held keeps anything. */
  responded(): void;
  release(): void;
}

/** Where nothing is counted there are always places. */
const UNCOUNTED: RequestPermit = {
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
  request: Pick<Request, "signal">,
): RequestPermit {
  let permit: Permit | undefined;

  function canAcquire(permits = 1): boolean {
    return permit === undefined ? limiter.canAcquire(username, address, permits) : permit.canGrow(permits);
  }

  function acquire(permits = 1): boolean {
    if (permit !== undefined) return permit.grow(permits);
    permit = limiter.acquire(username, address, request, permits);
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
