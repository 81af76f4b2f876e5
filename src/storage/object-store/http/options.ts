import { checkOption, isWholeNumber } from "../../../contracts/option-error.ts";
import { isName } from "../keys.ts";
import { MAX_HELD_PART_BYTES } from "../part-memory.ts";
import type { SendSettings } from "./client.ts";

/** Options of all storages that send HTTP requests to an object store. */
export interface StoreOptions {
  /**
   * Bytes of parts or blocks that all uploads together hold in memory, and those of one owner a quarter of it. The
   * first MiB of each does not count. Uploads over the limit wait, and meanwhile the slowest uploads may end as
   * `unavailable`. At least 64 MiB; default 512 MiB.
   */
  readonly maxHeldBytes?: number;
  /** Maximum number of retries after 408, 429, 5xx, time-outs and broken connections. Default 5. */
  readonly retries?: number;
  /**
   * Upper bound of the wait before the first retry. It doubles with each retry; each wait is a random part of it.
   * Default 0.1.
   */
  readonly retryDelaySeconds?: number;
  /** Maximum wait before a retry, also if `Retry-After` is longer. Default 10. */
  readonly maxRetryDelaySeconds?: number;
  /** How long an attempt waits for the response headers, plus one second for each 64 KiB that it sends. Default 30. */
  readonly headersTimeoutSeconds?: number;
  /** How long a response body may be silent while it is read. Default 30. */
  readonly idleTimeoutSeconds?: number;
  /** Sends requests. Default: `fetch` of the runtime. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Returns a random number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Checked and complete options. Durations are in milliseconds. */
export interface StoreSettings extends SendSettings {
  readonly maxHeldBytes: number;
}

const MEBIBYTE = 1_048_576;

/**
 * Checks the options that all stores have.
 * @throws OptionError that names the first wrong option.
 */
export function toStoreSettings(options: StoreOptions): StoreSettings {
  const { fetch: send = (url, init) => fetch(url, init), clock = Date.now, random = Math.random } = options;
  for (const [name, value] of Object.entries({ fetch: send, clock, random })) {
    checkOption(typeof value === "function", name, "a function");
  }
  return {
    maxHeldBytes: toInteger(options, "maxHeldBytes", 512 * MEBIBYTE, MAX_HELD_PART_BYTES, Number.MAX_SAFE_INTEGER),
    retries: toInteger(options, "retries", 5, 0, 100),
    retryDelay: toMilliseconds(options, "retryDelaySeconds", 0.1),
    maxRetryDelay: toMilliseconds(options, "maxRetryDelaySeconds", 10),
    headersTimeout: toMilliseconds(options, "headersTimeoutSeconds", 30),
    idleTimeout: toMilliseconds(options, "idleTimeoutSeconds", 30),
    fetch: send,
    clock,
    random,
  };
}

/** Returns an option that is a whole number from `least` to `most`. */
export function toInteger<N extends string>(
  options: { readonly [name in N]?: number },
  name: N,
  otherwise: number,
  least: number,
  most: number,
): number {
  const { [name]: number = otherwise } = options;
  checkOption(isWholeNumber(number, least, most), name, `an integer from ${least} to ${most}`);
  return number;
}

function toMilliseconds(
  options: StoreOptions,
  name: `${string}Seconds` & keyof StoreOptions,
  otherwise: number,
): number {
  const { [name]: seconds = otherwise } = options;
  // A timer treats a longer time as zero.
  const isTime = typeof seconds === "number" && seconds >= 0 && seconds <= 86_400;
  checkOption(isTime, name, "a number of seconds, 0 to 86400");
  return 1000 * seconds;
}

/** Returns the URL of the option `endpoint`. */
export function toEndpoint(endpoint: unknown): URL {
  const url = URL.canParse(String(endpoint)) ? new URL(String(endpoint)) : undefined;
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === "";
  checkOption(
    isBase && url.search === "" && url.hash === "",
    "endpoint",
    "an http or https URL without a user or a query",
  );
  return url;
}

/** Returns the prefix of all keys: empty, or with a `/` at its end. `toStored` returns a name as the store has it. */
export function toKeyPrefix(prefix: unknown, toStored = (name: string): string => name): string {
  if (prefix === "" || prefix === "/") return "";
  const names = typeof prefix === "string" ? prefix.replace(/^\/|\/$/g, "").split("/") : [""];
  checkOption(names.every(isName), "prefix", "names with a / between them");
  return `${names.map(toStored).join("/")}/`;
}
