import type { ServerOptions } from "node:http";

/** How much of its clients a server of ours takes. */
export interface NodeServerLimits {
  /**
   * A connection on which the client neither sends what is due nor takes what it gets for so long is destroyed; the
   * time that the service itself takes does not count. Milliseconds, 0 for never; default 120,000.
   */
  readonly idleMilliseconds?: number;
  /**
   * A client that sends a body, or takes one, slower than this on the average of `paceMilliseconds` is cut as an idle one is: uploads leave the former
   * file, downloads break off. Bytes a second; the time that the service itself takes does not count. Systems take megabytes at a time, of which only Linux tells how fast they
   * leave: elsewhere a client that holds itself back on a fast path needs some 20 KB a second. 0 for any pace. Default: 256.
   */
  readonly minBytesPerSecond?: number;
  /** How long a client may stay below that pace. Milliseconds, from 100 to a day; default 120,000. */
  readonly paceMilliseconds?: number;
  /** What the head of a request may hold: its first line and its fields, in bytes. More is 431. 1,024 to 1,048,576. Default: 16,384. */
  readonly maxHeaderBytes?: number;
  /** How long the head of a request may take; longer is 408. Milliseconds, 0 for any time; default 60,000. */
  readonly headersMilliseconds?: number;
  /** So many connections at a time; further ones are closed at once. 0 for as many as the system gives. Default: 0. */
  readonly maxConnections?: number;
  /**
   * So many of them from one address; of IPv6 its first 64 bits count. Behind a proxy all of them are the proxy's. 0 for any number. Default: 0.
   */
  readonly maxConnectionsPerAddress?: number;
}

/** The same, checked and complete. */
export type ServerLimits = Required<NodeServerLimits>;

/** Node's own: how often it looks for heads that take too long. */
const CHECK_MILLISECONDS = 30_000;
const DAY_MILLISECONDS = 86_400_000;

/** @throws TypeError naming the option that is wrong. */
export function toServerLimits(options: NodeServerLimits): ServerLimits {
  const { idleMilliseconds = 120_000, headersMilliseconds = 60_000, paceMilliseconds = 120_000 } = options;
  const { minBytesPerSecond = 256, maxHeaderBytes = 16_384 } = options;
  const { maxConnections = 0, maxConnectionsPerAddress = 0 } = options;
  check(isNumber(idleMilliseconds), "idleMilliseconds", "a whole number of milliseconds, or 0");
  check(isNumber(headersMilliseconds), "headersMilliseconds", "a whole number of milliseconds, or 0");
  check(isNumber(minBytesPerSecond), "minBytesPerSecond", "a whole number of bytes, or 0");
  const isPace = isNumber(paceMilliseconds) && paceMilliseconds >= 100 && paceMilliseconds <= DAY_MILLISECONDS;
  check(isPace, "paceMilliseconds", `a whole number of milliseconds from 100 to ${DAY_MILLISECONDS}`);
  const isHeader = Number.isSafeInteger(maxHeaderBytes) && maxHeaderBytes >= 1024 && maxHeaderBytes <= 1_048_576;
  check(isHeader, "maxHeaderBytes", "a whole number from 1024 to 1048576");
  check(isNumber(maxConnections), "maxConnections", "a whole number, or 0");
  check(isNumber(maxConnectionsPerAddress), "maxConnectionsPerAddress", "a whole number, or 0");
  return {
    idleMilliseconds,
    headersMilliseconds,
    paceMilliseconds,
    minBytesPerSecond,
    maxHeaderBytes,
    maxConnections,
    maxConnectionsPerAddress,
  };
}

/**
 * What of them node:http minds. `requestTimeout` bounds a request with its body, and long uploads are no attack. The head keeps a limit of its own,
 * which Node would lower to the former's 0.
 */
export function toServerOptions({ headersMilliseconds, maxHeaderBytes }: ServerLimits): ServerOptions {
  return {
    requestTimeout: 0,
    headersTimeout: headersMilliseconds,
    connectionsCheckingInterval: Math.min(headersMilliseconds || CHECK_MILLISECONDS, CHECK_MILLISECONDS),
    maxHeaderSize: maxHeaderBytes,
  };
}

function isNumber(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function check(holds: boolean, option: string, expected: string): void {
  if (!holds) throw new TypeError(`${option}: expected ${expected}`);
}
