import type { Presign } from "../../contracts/downloads/presign.ts";
import { OptionError } from "../../contracts/option-error.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { isName } from "../object-store/keys.ts";
import { MAX_HELD_PART_BYTES } from "./part-size.ts";

/** Keys that requests are signed with. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Token of temporary keys. */
  readonly sessionToken?: string;
  /**
   * When temporary keys expire. New ones are requested five minutes earlier. Default: when the store reports that they
   * expired.
   */
  readonly expiration?: Date;
}

/** The part of `fetch` that the storage uses. */
export type S3Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of `createS3Storage`. */
export interface S3StorageOptions {
  readonly bucket: string;
  /** Region that requests are signed for. Default `us-east-1`. */
  readonly region?: string;
  /** URL of the store, such as `https://host:port`. Default: the URL of AWS in the region. */
  readonly endpoint?: string;
  /** Whether the bucket is part of the URL's path instead of its host name. Default: true if there is an `endpoint`. */
  readonly forcePathStyle?: boolean;
  /** Folder of the bucket that is the storage's root, such as `a/b`. Default: the whole bucket. */
  readonly prefix?: string;
  /** Keys that requests are signed with: `accessKeyId` and `secretAccessKey`, and `sessionToken` for temporary keys. */
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  /**
   * Alternative to fixed keys. The storage calls it when it first needs keys, when they expire, and when the store
   * reports that they expired.
   */
  readonly credentials?: () => Promise<S3Credentials>;
  /**
   * Size of a part in bytes. Files up to this size are sent with one PUT. 5 to 64 MiB; default 8 MiB. Parts double
   * after each 1,000, up to 64 MiB.
   */
  readonly partBytes?: number;
  /**
   * How many parts of one upload are sent in parallel. All uploads together send at most four times as many. 1 to 64;
   * default 4.
   */
  readonly parallelParts?: number;
  /**
   * Bytes of parts that all uploads together hold in memory, and those of one owner a quarter of it. The first MiB of a
   * part does not count. Uploads over the limit wait, and meanwhile the slowest uploads may end as `unavailable`. At
   * least 64 MiB; default 512 MiB.
   */
  readonly maxHeldBytes?: number;
  /**
   * Whether writes and removals are sent with conditions. If not, or if the store does not support them, conditions are
   * checked just before. Default true.
   */
  readonly conditionalWrites?: boolean;
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
  readonly fetch?: S3Fetch;
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Returns a random number from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A storage in a bucket. */
export interface S3Storage extends StorageAdapter {
  /**
   * Checks with one request whether the bucket responds. Rejects with a `StorageError` whose message says what is
   * wrong.
   */
  check(): Promise<void>;
  /**
   * Makes a URL at which everyone can download a file for a time, with the type and name that the service gives it. Of
   * a file that has another version meanwhile there is none. In a bucket that keeps versions, the URL is for this
   * version alone. For the option `offload` of the service.
   */
  readonly presignRead: Presign;
}

/** Checked and complete options. Durations are in milliseconds. */
export interface S3Settings {
  /** URL of the bucket, with a `/` at its end. */
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  /** Empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly credentials: S3Credentials | (() => Promise<S3Credentials>);
  readonly partBytes: number;
  readonly parallelParts: number;
  readonly maxHeldBytes: number;
  readonly conditionalWrites: boolean;
  readonly retries: number;
  readonly retryDelay: number;
  readonly maxRetryDelay: number;
  readonly headersTimeout: number;
  readonly idleTimeout: number;
  readonly fetch: S3Fetch;
  readonly clock: () => number;
  readonly random: () => number;
}

const MEBIBYTE = 1_048_576;
/** Bucket names that AWS and compatible stores allow, without longer and older forms. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;

/**
 * Checks the options.
 * @throws TypeError that names the first wrong option.
 */
export function toS3Settings(options: S3StorageOptions): S3Settings {
  const { bucket, region = "us-east-1", endpoint, conditionalWrites = true } = options;
  if (typeof bucket !== "string" || !BUCKET.test(bucket)) fail("bucket", "the name of a bucket");
  if (typeof region !== "string" || !/^[\w-]+$/.test(region)) fail("region", "the name of a region");
  const { forcePathStyle = endpoint !== undefined } = options;
  for (const [name, value] of Object.entries({ forcePathStyle, conditionalWrites })) {
    if (typeof value !== "boolean") fail(name, "true or false");
  }
  return {
    url: toBucketUrl(endpoint ?? `https://s3.${region}.amazonaws.com`, bucket, forcePathStyle),
    bucket,
    region,
    prefix: toPrefix(options.prefix ?? ""),
    credentials: toCredentials(options),
    partBytes: toNumber(options, "partBytes", 8 * MEBIBYTE, 5 * MEBIBYTE, MAX_HELD_PART_BYTES),
    parallelParts: toNumber(options, "parallelParts", 4, 1, 64),
    maxHeldBytes: toNumber(options, "maxHeldBytes", 512 * MEBIBYTE, MAX_HELD_PART_BYTES, Number.MAX_SAFE_INTEGER),
    conditionalWrites,
    retries: toNumber(options, "retries", 5, 0, 100),
    retryDelay: 1000 * toSeconds(options, "retryDelaySeconds", 0.1),
    maxRetryDelay: 1000 * toSeconds(options, "maxRetryDelaySeconds", 10),
    headersTimeout: 1000 * toSeconds(options, "headersTimeoutSeconds", 30),
    idleTimeout: 1000 * toSeconds(options, "idleTimeoutSeconds", 30),
    fetch: toFunction(options, "fetch", (url: string, init: RequestInit) => fetch(url, init)),
    clock: toFunction(options, "clock", Date.now),
    random: toFunction(options, "random", Math.random),
  };
}

function toBucketUrl(endpoint: string, bucket: string, isInPath: boolean): string {
  const url = parseUrl(endpoint);
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === "";
  if (!isBase || url.search !== "" || url.hash !== "")
    fail("endpoint", "an http or https URL without a user or a query");
  if (!isInPath) {
    const host = `${bucket}.${url.hostname}`;
    url.hostname = host;
    // The URL setter silently ignores an invalid host, such as a name before an IP address. The bucket would then be
    // missing from the URL, and a folder be used as the bucket.
    if (url.hostname !== host) fail("forcePathStyle", `true, since no host is ${host}`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path}/${isInPath ? `${bucket}/` : ""}`;
}

function parseUrl(text: unknown): URL | undefined {
  try {
    return new URL(String(text));
  } catch {
    return undefined;
  }
}

function toPrefix(prefix: string): string {
  const segments = typeof prefix === "string" ? prefix.replace(/^\/|\/$/g, "").split("/") : [""];
  if (prefix === "" || prefix === "/") return "";
  if (!segments.every(isName)) fail("prefix", "names with a / between them");
  return `${segments.join("/")}/`;
}

function toCredentials(options: S3StorageOptions): S3Settings["credentials"] {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = options;
  if (credentials !== undefined) {
    if (typeof credentials !== "function") fail("credentials", "a function");
    if (accessKeyId !== undefined || secretAccessKey !== undefined)
      fail("credentials", "left out if accessKeyId is given");
    return credentials;
  }
  if (!isKey(accessKeyId)) fail("accessKeyId", "a text that is not empty, where there are no credentials");
  if (!isKey(secretAccessKey)) fail("secretAccessKey", "a text that is not empty");
  if (sessionToken === undefined) return { accessKeyId, secretAccessKey };
  if (!isKey(sessionToken)) fail("sessionToken", "a text that is not empty");
  return { accessKeyId, secretAccessKey, sessionToken };
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function toSeconds(options: S3StorageOptions, name: `${string}Seconds` & keyof S3StorageOptions, otherwise: number) {
  const { [name]: seconds = otherwise } = options;
  // A timer treats a longer time as zero.
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= 86_400))
    fail(name, "a number of seconds, 0 to 86400");
  return seconds;
}

function toNumber(
  options: S3StorageOptions,
  name: "partBytes" | "parallelParts" | "maxHeldBytes" | "retries",
  otherwise: number,
  least: number,
  most: number,
): number {
  const { [name]: number = otherwise } = options;
  if (!Number.isInteger(number) || number < least || number > most) fail(name, `an integer from ${least} to ${most}`);
  return number;
}

function toFunction<N extends "fetch" | "clock" | "random">(
  options: S3StorageOptions,
  name: N,
  otherwise: NonNullable<S3StorageOptions[N]>,
): NonNullable<S3StorageOptions[N]> {
  const { [name]: value = otherwise } = options;
  if (typeof value !== "function") fail(name, "a function");
  return value as NonNullable<S3StorageOptions[N]>;
}

function fail(option: string, expected: string): never {
  throw new OptionError(option, expected);
}
