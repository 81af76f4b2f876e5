import type { ServiceConfig } from "../config/service-config.ts";
import type { ByteSource } from "../contracts/byte-source.ts";
import { createSlots, type Slot, type Slots } from "./slots.ts";

/** What a request may have of what there is for its account. */
export interface Claims {
  /** Its place among the transfers under way. */
  readonly transferClaim: Claim;
  /** The members of a folder that are held for its page: as many places. */
  readonly pageClaim: Claim;
}

/** Makes the claims of a service's requests. */
export function createClaims({ limits, logger, clock }: Pick<ServiceConfig, "limits" | "logger" | "clock">) {
  const transfers = toSlots("transfersPerAccount", "transfersPerAddress", "Transfers");
  const pages = toSlots("pageMembersPerAccount", "pageMembersPerAddress", "Pages of large folders");

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

  return (username: string, address: string | undefined, request: Pick<Request, "signal">): Claims => ({
    transferClaim: new Claim(transfers, username, address, request),
    pageClaim: new Claim(pages, username, address, request),
  });
}

type CountLimit = "transfersPerAccount" | "transfersPerAddress" | "pageMembersPerAccount" | "pageMembersPerAddress";

/** What one request has of the places of its account and its address (`slots.ts`): none until it takes some. */
export class Claim {
  readonly #slots: Slots | undefined;
  readonly #username: string;
  readonly #address: string | undefined;
  readonly #request: Pick<Request, "signal">;
  #slot: Slot | undefined;

  /** `slots`: absent where nothing is counted, and there are always places. */
  constructor(
    slots: Slots | undefined,
    username: string,
    address: string | undefined,
    request: Pick<Request, "signal">,
  ) {
    this.#slots = slots;
    this.#username = username;
    this.#address = address;
    this.#request = request;
  }

  isTaken(): boolean {
    return this.#slot !== undefined;
  }

  /** Whether {@link take} would find so many places now, one by default; nothing is taken, and the log hears nothing. */
  mayTake(places = 1): boolean {
    if (this.#slots === undefined) return true;
    return this.#slot === undefined
      ? this.#slots.mayTake(this.#username, this.#address, places)
      : this.#slot.mayWiden(places);
  }

  /** Takes so many places, one by default, as far as it has not got them; false where they are not left, which the log is told and which is to be refused. */
  take(places = 1): boolean {
    if (this.#slots === undefined) return true;
    this.#slot ??= this.#slots.take(this.#username, this.#address, this.#request);
    return this.#slot?.widen(places) === true;
  }

  /** The same source, which keeps what has been taken until it ends. Without it that is free with the answer. */
  hold(source: ByteSource): ByteSource {
    return this.#slot === undefined ? source : this.#slot.hold(source);
  }

  /** The request has its answer: only a source that is held keeps anything. */
  answered(): void {
    this.#slot?.answered();
  }

  release(): void {
    this.#slot?.release();
  }
}
