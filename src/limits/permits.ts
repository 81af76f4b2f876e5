import type { ServiceConfig } from "../config/service-config.ts";
import type { ByteSource } from "../contracts/byte-source.ts";
import { createSlots, type Slot, type Slots } from "./concurrency-limiter.ts";

/** What a request may have of what there is for its account. */
export interface Claims {
  /** Its place among the transfers under way. */
  readonly transferClaim: Claim;
  /** The bytes that are held of its folder for a page: as many places. */
  readonly pageClaim: Claim;
}

/** Makes the claims of a service's requests. */
export function createClaims({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toSlots("transfersPerAccount", "transfersPerAddress", "Transfers");
  const pages = toSlots("pageBytesPerAccount", "pageBytesPerAddress", "Pages");

  /** `undefined` where nothing is to be counted. */
  function toSlots(ofAccount: CountLimit, ofAddress: CountLimit, what: string): Slots | undefined {
    const [perAccount, perAddress] = [limits[ofAccount], limits[ofAddress]];
    if (perAccount === 0 && perAddress === 0) return undefined;
    const refusal = `${what} are refused: there are as many as limits allow.`;
    return createSlots({
      perAccount: [ofAccount, perAccount],
      perAddress: [ofAddress, perAddress],
      refusal,
      logger,
      clock,
    });
  }

  return (username: string, address: string | undefined, request: Pick<Request, "signal">): Claims => {
    const toClaim = (slots: Slots | undefined): Claim =>
      slots === undefined ? UNCOUNTED : createClaim(slots, username, address, request);
    return { transferClaim: toClaim(transfers), pageClaim: toClaim(pages) };
  };
}

type CountLimit = "transfersPerAccount" | "transfersPerAddress" | "pageBytesPerAccount" | "pageBytesPerAddress";

/** What one request has of the places of its account and its address (`concurrency-limiter.ts`): none until it takes some. */
export interface Claim {
  isTaken(): boolean;
  /** Whether `take` would find so many places now, one by default; nothing is taken, and the log hears nothing. */
  mayTake(places?: number): boolean;
  /** Takes so many places, one by default, as far as it has not got them; false where they are not left, which the log is told and which is to be refused. */
  take(places?: number): boolean;
  /** The same source, which keeps what has been taken until it ends. Without it that is free with the answer. */
  hold(source: ByteSource): ByteSource;
  /** The request has its answer: only a source that is held keeps anything. */
  answered(): void;
  release(): void;
}

/** Where nothing is counted there are always places. */
const UNCOUNTED: Claim = {
  isTaken: () => false,
  mayTake: () => true,
  take: () => true,
  hold: (source) => source,
  answered: () => undefined,
  release: () => undefined,
};

function createClaim(
  slots: Slots,
  username: string,
  address: string | undefined,
  request: Pick<Request, "signal">,
): Claim {
  let slot: Slot | undefined;

  function mayTake(places = 1): boolean {
    return slot === undefined ? slots.mayTake(username, address, places) : slot.mayWiden(places);
  }

  function take(places = 1): boolean {
    if (slot !== undefined) return slot.widen(places);
    slot = slots.take(username, address, request, places);
    return slot !== undefined;
  }

  return {
    isTaken: () => slot !== undefined,
    mayTake,
    take,
    hold: (source) => (slot === undefined ? source : slot.hold(source)),
    answered: () => slot?.answered(),
    release: () => slot?.release(),
  };
}
