import type { ByteSource } from "../contracts/byte-source.ts";
import type { Logger } from "../contracts/logger.ts";
import { toNetwork } from "../http/network.ts";
import { isLight } from "../http/source-body.ts";

/** What one request has of the places of its account and its address: a transfer's one, or those of all members on a page. */
export interface Slot {
  /** Whether `widen` would find them now. */
  mayWiden(places: number): boolean;
  /** Takes so many places in all, or as many as anybody may have; false when others have them, or the slot is free again. */
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

/** Counts what is under way in this process: transfers, or the members on pages. */
export interface Slots {
  /** Takes a slot of an account, and of an address where one is known; `undefined` when either has as many as it may have. */
  take(username: string, address: string | undefined, request: Pick<Request, "signal">): Slot | undefined;
  /** Whether so many places, or as many as anybody may have, are left for a request that has none yet. */
  mayTake(username: string, address: string | undefined, places: number): boolean;
  /** How many places are taken. */
  taken(): number;
}

/** How much is too much. */
export interface SlotsOptions {
  readonly perAccount: NamedLimit;
  readonly perAddress: NamedLimit;
  /** What the log is told of a refusal. */
  readonly refusal: string;
  readonly logger: Pick<Logger, "warn">;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** 0: any number. */
type NamedLimit = readonly [name: string, most: number];

/** Refusals are in the log this often at most: who is refused may try again at once. */
const WARN_EVERY_MS = 60_000;

/** What the log is told of a refusal. */
type Details = Readonly<Record<string, unknown>>;

/** Makes slots of a service. */
export function createSlots({ perAccount, perAddress, refusal, logger, clock }: SlotsOptions): Slots {
  const [nameOfAccounts, mostOfAccount] = perAccount;
  const [nameOfAddresses, mostOfAddress] = perAddress;
  const ofAccount = createCounters(mostOfAccount);
  const ofAddress = createCounters(mostOfAddress);
  const most = Math.min(mostOfAccount || Number.POSITIVE_INFINITY, mostOfAddress || Number.POSITIVE_INFINITY);
  let taken = 0;
  let warned = Number.NEGATIVE_INFINITY;

  function warn(details: Details): void {
    const now = clock();
    if (now - warned < WARN_EVERY_MS) return;
    warned = now;
    logger.warn(details, refusal);
  }

  /** What there is too much of for so many more places. */
  function findExcess(username: string, network: string | undefined, places: number): Details | undefined {
    if (!ofAccount.mayEnter(username, places)) return { account: username, [nameOfAccounts]: mostOfAccount };
    if (network !== undefined && !ofAddress.mayEnter(network, places))
      return { address: network, [nameOfAddresses]: mostOfAddress };
    return undefined;
  }

  function enter(username: string, network: string | undefined, places: number): boolean {
    const excess = findExcess(username, network, places);
    if (excess !== undefined) {
      warn(excess);
      return false;
    }
    ofAccount.enter(username, places);
    if (network !== undefined) ofAddress.enter(network, places);
    taken += places;
    return true;
  }

  const mayTake: Slots["mayTake"] = (username, address, places) =>
    findExcess(username, findNetwork(address), Math.min(places, most)) === undefined;

  const take: Slots["take"] = (username, address, request) => {
    const network = findNetwork(address);
    if (!enter(username, network, 1)) return undefined;
    let places = 1;
    let isFree = false;

    function toMore(wanted: number): number {
      return Math.max(0, Math.min(wanted, most) - places);
    }

    function mayWiden(wanted: number): boolean {
      const more = toMore(wanted);
      return more === 0 || findExcess(username, network, more) === undefined;
    }

    function widen(wanted: number): boolean {
      if (isFree) return false;
      const more = toMore(wanted);
      if (more === 0) return true;
      if (!enter(username, network, more)) return false;
      places += more;
      return true;
    }

    function free(): void {
      isFree = true;
      taken -= places;
      ofAccount.leave(username, places);
      if (network !== undefined) ofAddress.leave(network, places);
    }

    return { ...createSlot(request, free), mayWiden, widen };
  };

  return { take, mayTake, taken: () => taken };
}

function findNetwork(address: string | undefined): string | undefined {
  return address === undefined ? undefined : toNetwork(address);
}

function createCounters(most: number) {
  const counts = new Map<string, number>();

  function mayEnter(key: string, places: number): boolean {
    return most === 0 || (counts.get(key) ?? 0) + places <= most;
  }

  function enter(key: string, places: number): void {
    if (most > 0) counts.set(key, (counts.get(key) ?? 0) + places);
  }

  function leave(key: string, places: number): void {
    const left = (counts.get(key) ?? 0) - places;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  }

  return { mayEnter, enter, leave };
}

function createSlot(request: Pick<Request, "signal">, free: () => void): Omit<Slot, "mayWiden" | "widen"> {
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
