import type { ByteSource } from "../contracts/byte-source.ts";
import type { Logger } from "../contracts/logger.ts";
import { toNetwork } from "../http/network.ts";
import { isLight } from "../http/source-body.ts";

/** The place of one transfer among those of its account and its address. */
export interface TransferSlot {
  /** Takes so many places in all, or as many as anybody may have; false when others have them. */
  widen(places: number): boolean;
  /**
   * The same source; the slot is free when it ends, however it does: read to its end, failed, let go of, or the client gone. Without it a slot is
   * free with the answer.
   */
  hold(source: ByteSource): ByteSource;
  /** The request has its answer: only a source that is held keeps the slot. */
  answered(): void;
  /** Frees the slot; once is enough. */
  release(): void;
}

/** Counts the transfers that are under way in this process. */
export interface TransferSlots {
  /** Takes a slot of an account, and of an address where one is known; `undefined` when either has as many as it may have. */
  take(username: string, address: string | undefined, request: Pick<Request, "signal">): TransferSlot | undefined;
  /** How many places are taken. */
  taken(): number;
}

/** How much is too much. 0: any number. */
export interface TransferSlotsOptions {
  readonly perAccount: number;
  readonly perAddress: number;
  readonly logger: Pick<Logger, "warn">;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** Refusals are in the log this often at most: who is refused may try again at once. */
const WARN_EVERY_MS = 60_000;

/** Makes the slots of a service. */
export function createTransferSlots({ perAccount, perAddress, logger, clock }: TransferSlotsOptions): TransferSlots {
  const ofAccount = createCounters(perAccount);
  const ofAddress = createCounters(perAddress);
  const most = Math.min(perAccount || Number.POSITIVE_INFINITY, perAddress || Number.POSITIVE_INFINITY);
  let taken = 0;
  let warned = Number.NEGATIVE_INFINITY;

  function warn(details: Readonly<Record<string, unknown>>): void {
    const now = clock();
    if (now - warned < WARN_EVERY_MS) return;
    warned = now;
    logger.warn(details, "Transfers are refused: there are as many as limits allow.");
  }

  function enter(username: string, network: string | undefined, places: number): boolean {
    if (!ofAccount.enter(username, places)) {
      warn({ account: username, transfersPerAccount: perAccount });
      return false;
    }
    if (network !== undefined && !ofAddress.enter(network, places)) {
      ofAccount.leave(username, places);
      warn({ address: network, transfersPerAddress: perAddress });
      return false;
    }
    taken += places;
    return true;
  }

  const take: TransferSlots["take"] = (username, address, request) => {
    const network = address === undefined ? undefined : toNetwork(address);
    if (!enter(username, network, 1)) return undefined;
    let places = 1;

    function widen(wanted: number): boolean {
      const more = Math.min(wanted, most) - places;
      if (more <= 0) return true;
      if (!enter(username, network, more)) return false;
      places += more;
      return true;
    }

    function free(): void {
      taken -= places;
      ofAccount.leave(username, places);
      if (network !== undefined) ofAddress.leave(network, places);
    }

    return { ...createSlot(request, free), widen };
  };

  return { take, taken: () => taken };
}

function createCounters(most: number) {
  const counts = new Map<string, number>();

  function enter(key: string, places: number): boolean {
    if (most === 0) return true;
    const count = (counts.get(key) ?? 0) + places;
    if (count > most) return false;
    counts.set(key, count);
    return true;
  }

  function leave(key: string, places: number): void {
    const left = (counts.get(key) ?? 0) - places;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  }

  return { enter, leave };
}

function createSlot(request: Pick<Request, "signal">, free: () => void): Omit<TransferSlot, "widen"> {
  let isFree = false;
  let isHeld = false;

  function release(): void {
    if (isFree) return;
    isFree = true;
    // Where the light fetch API is in use, a client that has gone lets go of the source; a signal costs more than all this.
    if (isHeld && !isLight) request.signal.removeEventListener("abort", release);
    free();
  }

  function hold(source: ByteSource): ByteSource {
    isHeld = true;
    if (!isLight) {
      if (request.signal.aborted) release();
      else request.signal.addEventListener("abort", release, { once: true });
    }

    async function readInto(buffer: Uint8Array): Promise<number> {
      try {
        const count = await source.readInto(buffer);
        if (count === 0) release();
        return count;
      } catch (error) {
        release();
        throw error;
      }
    }

    async function close(): Promise<void> {
      release();
      await source.close();
    }

    return { readInto, close };
  }

  return {
    hold,
    release,
    answered: () => {
      if (!isHeld) release();
    },
  };
}
