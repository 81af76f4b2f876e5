import type { ServerOptions } from "node:http";
import { checkOption } from "../../contracts/option-error.ts";

/** Limits for the clients of a server of {@link createNodeServer}. Seconds may have a fraction. */
export interface NodeServerLimits {
  /**
   * Destroys a connection if the server waits for the client for this long, to send bytes or to read the response, and
   * the client moves nothing. Time that the service itself takes does not count. Seconds; 0 for no limit. Default: 120.
   */
  readonly idleSeconds?: number;
  /**
   * The minimum throughput of a body in either direction, on the average of `throughputWindowSeconds`. A slower client
   * is cut as an idle one is: uploads leave the existing file, downloads break off. Bytes per second; time that the
   * service itself takes does not count. Bytes of a response count when the system accepts them, and it buffers
   * megabytes on a fast path: a client that throttles itself there needs about 15 KB per second with Linux's default
   * buffers. 0 for no limit. Default: 256.
   */
  readonly minBytesPerSecond?: number;
  /** How long a client may stay below `minBytesPerSecond`. Seconds, from 0.1 to a day. Default: 120. */
  readonly throughputWindowSeconds?: number;
  /** Limits a request's first line and headers, in bytes. More is 431. From 1,024 to 1,048,576. Default: 16,384. */
  readonly maxHeaderBytes?: number;
  /** How long the headers of a request may take; longer is 408. Seconds; 0 for no limit. Default: 60. */
  readonly headersSeconds?: number;
  /** The number of concurrent connections; further ones are closed. 0 for no limit but the system's. Default: 0. */
  readonly maxConnections?: number;
  /**
   * The number of concurrent connections from one address; for IPv6 its first 64 bits count. Behind a proxy all
   * connections come from the proxy. 0 for no limit. Default: 0.
   */
  readonly maxConnectionsPerAddress?: number;
}

/** The limits of a server, checked and complete, in milliseconds. */
export interface ServerLimits {
  readonly idleMilliseconds: number;
  readonly headersMilliseconds: number;
  readonly windowMilliseconds: number;
  readonly minBytesPerSecond: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** How often Node checks for heads that take too long: its own default. */
const CHECK_MILLISECONDS = 30_000;
const DAY_SECONDS = 86_400;

/** Checks the limits and adds the defaults. @throws TypeError that names the wrong option. */
export function toServerLimits(options: NodeServerLimits): ServerLimits {
  const { idleSeconds = 120, headersSeconds = 60, throughputWindowSeconds = 120 } = options;
  const { minBytesPerSecond = 256, maxHeaderBytes = 16_384 } = options;
  const { maxConnections = 0, maxConnectionsPerAddress = 0 } = options;
  checkOption(isBetween(idleSeconds, 0, DAY_SECONDS), "idleSeconds", `a number from 0 to ${DAY_SECONDS}`);
  checkOption(isBetween(headersSeconds, 0, DAY_SECONDS), "headersSeconds", `a number from 0 to ${DAY_SECONDS}`);
  checkOption(isNumber(minBytesPerSecond), "minBytesPerSecond", "a whole number of bytes, or 0");
  const isWindow = isBetween(throughputWindowSeconds, 0.1, DAY_SECONDS);
  checkOption(isWindow, "throughputWindowSeconds", `a number from 0.1 to ${DAY_SECONDS}`);
  const isHeader = Number.isSafeInteger(maxHeaderBytes) && maxHeaderBytes >= 1024 && maxHeaderBytes <= 1_048_576;
  checkOption(isHeader, "maxHeaderBytes", "a whole number from 1024 to 1048576");
  checkOption(isNumber(maxConnections), "maxConnections", "a whole number, or 0");
  checkOption(isNumber(maxConnectionsPerAddress), "maxConnectionsPerAddress", "a whole number, or 0");
  return {
    idleMilliseconds: toMilliseconds(idleSeconds),
    headersMilliseconds: toMilliseconds(headersSeconds),
    windowMilliseconds: toMilliseconds(throughputWindowSeconds),
    minBytesPerSecond,
    maxHeaderBytes,
    maxConnections,
    maxConnectionsPerAddress,
  };
}

/** Seconds as whole milliseconds, rounded up so that only 0 is 0. */
export function toMilliseconds(seconds: number): number {
  return Math.ceil(seconds * 1000);
}

/**
 * The limits that node:http enforces. `requestTimeout` is off, because it limits a request with its body, and a long
 * upload is no attack. `headersTimeout` is set explicitly: Node would derive 0 from `requestTimeout`.
 */
export function toServerOptions({ headersMilliseconds, maxHeaderBytes }: ServerLimits): ServerOptions {
  return {
    requestTimeout: 0,
    headersTimeout: headersMilliseconds,
    connectionsCheckingInterval: Math.min(headersMilliseconds || CHECK_MILLISECONDS, CHECK_MILLISECONDS),
    maxHeaderSize: maxHeaderBytes,
  };
}

function isBetween(value: number, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

function isNumber(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
