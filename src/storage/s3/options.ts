import type { Presign } from "../../contracts/downloads/presign.ts";
import { checkOption } from "../../contracts/option-error.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import {
  type StoreOptions,
  type StoreSettings,
  toEndpoint,
  toInteger,
  toKeyPrefix,
  toStoreSettings,
} from "../object-store/http/options.ts";
import { MAX_HELD_PART_BYTES } from "../object-store/part-memory.ts";

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
export interface S3StorageOptions extends StoreOptions {
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
   * Whether writes and removals are sent with conditions. If not, or if the store does not support them, conditions are
   * checked just before. Default true.
   */
  readonly conditionalWrites?: boolean;
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
export interface S3Settings extends StoreSettings {
  /** URL of the bucket, with a `/` at its end. */
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  /** Empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly credentials: S3Credentials | (() => Promise<S3Credentials>);
  readonly partBytes: number;
  readonly parallelParts: number;
  readonly conditionalWrites: boolean;
}

const MEBIBYTE = 1_048_576;
/** Bucket names that AWS and compatible stores allow, without longer and older forms. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;

/**
 * Checks the options.
 * @throws OptionError that names the first wrong option.
 */
export function toS3Settings(options: S3StorageOptions): S3Settings {
  const { bucket, region = "us-east-1", endpoint, conditionalWrites = true } = options;
  checkOption(typeof bucket === "string" && BUCKET.test(bucket), "bucket", "the name of a bucket");
  checkOption(typeof region === "string" && /^[\w-]+$/.test(region), "region", "the name of a region");
  const { forcePathStyle = endpoint !== undefined } = options;
  for (const [name, value] of Object.entries({ forcePathStyle, conditionalWrites })) {
    checkOption(typeof value === "boolean", name, "true or false");
  }
  return {
    ...toStoreSettings(options),
    url: toBucketUrl(toEndpoint(endpoint ?? `https://s3.${region}.amazonaws.com`), bucket, forcePathStyle),
    bucket,
    region,
    prefix: toKeyPrefix(options.prefix ?? ""),
    credentials: toCredentials(options),
    partBytes: toInteger(options, "partBytes", 8 * MEBIBYTE, 5 * MEBIBYTE, MAX_HELD_PART_BYTES),
    parallelParts: toInteger(options, "parallelParts", 4, 1, 64),
    conditionalWrites,
  };
}

function toBucketUrl(url: URL, bucket: string, isInPath: boolean): string {
  if (!isInPath) {
    const host = `${bucket}.${url.hostname}`;
    url.hostname = host;
    // The URL setter silently ignores an invalid host, such as a name before an IP address. The bucket would then be
    // missing from the URL, and a folder be used as the bucket.
    checkOption(url.hostname === host, "forcePathStyle", `true, since no host is ${host}`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path}/${isInPath ? `${bucket}/` : ""}`;
}

function toCredentials(options: S3StorageOptions): S3Settings["credentials"] {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = options;
  if (credentials !== undefined) {
    checkOption(typeof credentials === "function", "credentials", "a function");
    const areAlone = accessKeyId === undefined && secretAccessKey === undefined;
    checkOption(areAlone, "credentials", "left out if accessKeyId is given");
    return credentials;
  }
  checkOption(isKey(accessKeyId), "accessKeyId", "a text that is not empty, where there are no credentials");
  checkOption(isKey(secretAccessKey), "secretAccessKey", "a text that is not empty");
  if (sessionToken === undefined) return { accessKeyId, secretAccessKey };
  checkOption(isKey(sessionToken), "sessionToken", "a text that is not empty");
  return { accessKeyId, secretAccessKey, sessionToken };
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
