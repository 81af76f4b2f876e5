import type { Presign } from "../../contracts/downloads/presign.ts";
import { checkOption } from "../../contracts/option-error.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { RetrySettings } from "../object-store/http/retry.ts";
import { isName } from "../object-store/keys.ts";
import { toBlobName } from "./names.ts";

/** The part of `fetch` that the storage uses. */
export type AzureFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of `createAzureStorage`. */
export interface AzureStorageOptions {
  /** The name of the storage account. */
  readonly account: string;
  readonly container: string;
  /** One of the two keys of the account, in base64. */
  readonly key: string;
  /** URL of the Blob service. Default: `https://<account>.blob.core.windows.net`. */
  readonly endpoint?: string;
  /** Folder of the container that is the storage's root, such as `a/b`. Default: the whole container. */
  readonly prefix?: string;
  /**
   * Size of a block in bytes. Files up to this size are sent by one request. 1 to 64 MiB; default 8 MiB. Blocks double
   * after each 1,000, up to 64 MiB.
   */
  readonly blockBytes?: number;
  /**
   * How many blocks of one upload are sent in parallel. All uploads together send at most four times as many. 1 to 64;
   * default 4.
   */
  readonly parallelBlocks?: number;
  /**
   * Bytes of blocks that all uploads together hold in memory, and those of one owner a quarter of it. The first MiB of
   * a block does not count. At least 64 MiB; default 512 MiB.
   */
  readonly maxHeldBytes?: number;
  /** Maximum number of retries after 408, 429, 5xx, time-outs and broken connections. Default 5. */
  readonly retries?: number;
  /** Upper bound of the wait before the first retry. It doubles with each retry. Default 0.1. */
  readonly retryDelaySeconds?: number;
  /** Maximum wait before a retry, also if `Retry-After` is longer. Default 10. */
  readonly maxRetryDelaySeconds?: number;
  /** How long an attempt waits for the response headers, plus one second for each 64 KiB that it sends. Default 30. */
  readonly headersTimeoutSeconds?: number;
  /** How long a response body may be silent while it is read. Default 30. */
  readonly idleTimeoutSeconds?: number;
  /** Sends requests. Default: `fetch` of the runtime. */
  readonly fetch?: AzureFetch;
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Returns a random number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A storage in a container of Azure. */
export interface AzureStorage extends StorageAdapter {
  /**
   * Checks with one request whether the container responds. Rejects with a `StorageError` whose message says what is
   * wrong.
   */
  check(): Promise<void>;
  /**
   * Makes a URL at which everyone can download a file for a time, with the type and name that the service gives it. Of
   * a file that has another version meanwhile there is none. The URL is for what is at the path when it is used. For
   * the option `offload` of the service.
   */
  readonly presignRead: Presign;
}

/** Checked and complete options. Durations are in milliseconds. */
export interface AzureSettings extends RetrySettings {
  /** URL of the container, with a `/` at its end. */
  readonly url: string;
  readonly account: string;
  readonly container: string;
  readonly key: Uint8Array<ArrayBuffer>;
  /** Empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly blockBytes: number;
  readonly parallelBlocks: number;
  readonly maxHeldBytes: number;
  readonly headersTimeout: number;
  readonly idleTimeout: number;
  readonly fetch: AzureFetch;
}

const MEBIBYTE = 1_048_576;
/** The largest block, which always fits into the memory. */
export const MAX_BLOCK_BYTES = 64 * MEBIBYTE;

/**
 * Checks the options.
 * @throws OptionError that names the first wrong option.
 */
export function toAzureSettings(options: AzureStorageOptions): AzureSettings {
  const { account, container, endpoint = `https://${account}.blob.core.windows.net`, prefix = "" } = options;
  checkOption(isText(account) && /^[a-z0-9]{3,24}$/.test(account), "account", "the name of a storage account");
  const isContainer = isText(container) && /^[a-z0-9](?:-?[a-z0-9]){2,62}$/.test(container);
  checkOption(isContainer, "container", "the name of a container");
  const { fetch: send = (url, init) => fetch(url, init), clock = Date.now, random = Math.random } = options;
  for (const [name, value] of Object.entries({ fetch: send, clock, random })) {
    checkOption(typeof value === "function", name, "a function");
  }
  return {
    account,
    container,
    key: toKey(options.key),
    url: `${toEndpoint(endpoint)}/${container}/`,
    prefix: toPrefix(prefix),
    blockBytes: toNumber(options, "blockBytes", 8 * MEBIBYTE, MEBIBYTE, MAX_BLOCK_BYTES),
    parallelBlocks: toNumber(options, "parallelBlocks", 4, 1, 64),
    maxHeldBytes: toNumber(options, "maxHeldBytes", 512 * MEBIBYTE, MAX_BLOCK_BYTES, Number.MAX_SAFE_INTEGER),
    retries: toNumber(options, "retries", 5, 0, 100),
    retryDelay: toMilliseconds(options, "retryDelaySeconds", 0.1),
    maxRetryDelay: toMilliseconds(options, "maxRetryDelaySeconds", 10),
    headersTimeout: toMilliseconds(options, "headersTimeoutSeconds", 30),
    idleTimeout: toMilliseconds(options, "idleTimeoutSeconds", 30),
    fetch: send,
    clock,
    random,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** The message must not quote the key. */
function toKey(key: unknown): Uint8Array<ArrayBuffer> {
  const isKey = isText(key) && /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key);
  checkOption(isKey, "key", "a key of the account, in base64");
  return Uint8Array.from(atob(key as string), (sign) => sign.charCodeAt(0));
}

function toEndpoint(endpoint: unknown): string {
  const url = isText(endpoint) && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === "";
  checkOption(
    isBase && url.search === "" && url.hash === "",
    "endpoint",
    "an http or https URL without a user or a query",
  );
  return `${url?.origin}${url?.pathname.replace(/\/+$/, "")}`;
}

function toPrefix(prefix: unknown): string {
  if (prefix === "" || prefix === "/") return "";
  const names = isText(prefix) ? prefix.replace(/^\/|\/$/g, "").split("/") : [""];
  checkOption(names.every(isName), "prefix", "names with a / between them");
  return `${names.map(toBlobName).join("/")}/`;
}

function toNumber(
  options: AzureStorageOptions,
  name: "blockBytes" | "parallelBlocks" | "maxHeldBytes" | "retries",
  otherwise: number,
  least: number,
  most: number,
): number {
  const { [name]: number = otherwise } = options;
  const isNumber = Number.isInteger(number) && number >= least && number <= most;
  checkOption(isNumber, name, `an integer from ${least} to ${most}`);
  return number;
}

function toMilliseconds(
  options: AzureStorageOptions,
  name: `${string}Seconds` & keyof AzureStorageOptions,
  otherwise: number,
): number {
  const { [name]: seconds = otherwise } = options;
  // A timer treats a longer time as zero.
  const isTime = typeof seconds === "number" && seconds >= 0 && seconds <= 86_400;
  checkOption(isTime, name, "a number of seconds, 0 to 86400");
  return 1000 * seconds;
}
