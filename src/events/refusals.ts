import type { FileEvent } from "../contracts/events/file-event.ts";
import { toNetwork } from "../http/ip-network.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";

/** The number of events about refusals that one network can cause in a second. */
const PER_SECOND = 10;
/** The number of those that all networks together can cause in a second: a client may have many addresses. */
const PER_SECOND_IN_ALL = 200;
/** The number of networks that are counted; those without a refusal for the longest time are dropped. */
const MAX_NETWORKS = 10_000;
/** Clients decide how long the texts in events of refusals are. */
const MAX_NAME = 255;
const MAX_PATH = 1024;

/**
 * Whether a client without an account can cause such an event: a refused login, unless its password was right, a
 * refusal by a link, or a 400 before a login. Without a limit, a client could fill the audit trail in seconds.
 */
export function isRefusal({ id, account, data }: Pick<FileEvent, "id" | "account" | "data">): boolean {
  if (id === 40000) return !("reason" in data && (data.reason === "account" || data.reason === "cross-site"));
  return id === 49103 || (id === 40019 && account === undefined);
}

/** Limits the events about refusals, for each network and for all together. */
export interface RefusalLimiter {
  /**
   * Returns how many events of this network were left out since its last one, and of all networks because of the total
   * since the last one of any; `undefined` if this one is to be left out too. All unknown addresses count as one
   * network.
   */
  admit(address: string | undefined): number | undefined;
}

/** Creates the limiter of a service. `clock` returns milliseconds. */
export function createRefusalLimiter(clock: () => number): RefusalLimiter {
  const networks = createBoundedMap<string, Admitted>(MAX_NETWORKS);
  let all: Admitted = { second: 0, count: 0, others: 0 };

  return {
    admit(address) {
      const network = address === undefined ? "" : toNetwork(address);
      const second = Math.floor(clock() / 1000);
      const known = networks.get(network);
      if (known !== undefined && isFull(known, second, PER_SECOND)) return leaveOut(known);
      if (isFull(all, second, PER_SECOND_IN_ALL)) return leaveOut(all);
      const others = (known?.others ?? 0) + all.others;
      all = afterOneMore(all, second);
      networks.set(network, afterOneMore(known, second));
      return others;
    },
  };
}

/** How many events were emitted in a second, and how many were left out since the last one. */
interface Admitted {
  readonly second: number;
  readonly count: number;
  others: number;
}

function isFull({ second, count }: Admitted, now: number, most: number): boolean {
  return second === now && count === most;
}

function leaveOut(admitted: Admitted): undefined {
  admitted.others += 1;
}

function afterOneMore(before: Admitted | undefined, second: number): Admitted {
  return { second, count: before?.second === second ? before.count + 1 : 1, others: 0 };
}

/** The beginning of a user name that a client has sent. */
export function cutName(name: string): string {
  return cut(name, MAX_NAME);
}

/** The beginning of a path that a client has sent. */
export function cutPath(path: string): string {
  return cut(path, MAX_PATH);
}

/** Does not cut a character of two code units in half: a receiver may refuse half of one. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
