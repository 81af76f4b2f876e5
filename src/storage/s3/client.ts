import { AwsV4Signer } from "aws4fetch";
import { StorageError } from "../../contracts/storage-adapter.ts";
import {
  createStoreClient,
  type SignedAttempt,
  type StoreClient,
  type StoreRequest,
  toErrorName,
} from "../object-store/http/client.ts";
import { encodeKey, encodeQuery } from "../object-store/http/encode.ts";
import { createKeySource } from "./credentials.ts";
import { codeOf } from "./errors.ts";
import type { S3Credentials, S3Settings } from "./options.ts";

/** A client of one bucket. It signs all headers of a request except `range`. */
export interface S3Client extends StoreClient<StoreRequest> {
  readonly settings: S3Settings;
  /** Rejects with `unavailable` if there are no keys. */
  checkKeys(): Promise<void>;
  /** Returns a URL at which everyone can read an object for a time. Rejects with `unavailable` if there are no keys. */
  presign(key: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>;
}

/** Error codes for expired keys. */
const EXPIRED = /^(?:ExpiredToken|InvalidToken|InvalidAccessKeyId|TokenRefreshRequired)$/;

/** Creates a client of one bucket. */
export function createS3Client(settings: S3Settings): S3Client {
  const keys = createKeySource(settings);
  const signingKeys = new Map<string, ArrayBuffer>();

  async function currentKeys(signal: AbortSignal | undefined): Promise<S3Credentials> {
    try {
      return await keys.current(signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw new StorageError("unavailable", `No credentials were found for the store: ${toErrorName(error)}`);
    }
  }

  function toSigner(
    { method, key = "", query = {}, headers = {} }: StoreRequest,
    credentials: S3Credentials,
    { signQuery = false } = {},
  ): AwsV4Signer {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    if (signingKeys.size > 32) signingKeys.clear();
    return new AwsV4Signer({
      method,
      signQuery,
      url: `${settings.url}${encodeKey(key)}${encodeQuery(query)}`,
      headers,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: "s3",
      region: settings.region,
      cache: signingKeys,
      datetime: new Date(settings.clock()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
  }

  async function sign(request: StoreRequest): Promise<SignedAttempt> {
    const credentials = await currentKeys(request.signal);
    const { url, headers } = await toSigner(request, credentials).sign();
    // Not signed, because some stores and proxies change this header on the way.
    headers.set("Accept-Encoding", "identity");
    return {
      url: url.href,
      headers,
      mayRenewKeys: (status, code) => isExpired(request, status, code) && keys.refuse(credentials),
    };
  }

  async function presign(key: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string> {
    const credentials = await currentKeys(undefined);
    const request = { method: "GET", key, query: { ...query, "X-Amz-Expires": String(seconds) } } as const;
    const { url } = await toSigner(request, credentials, { signQuery: true }).sign();
    // The signature covers spaces as `%20`, and not every store takes `+` for one.
    return url.href.replace(/\+/g, "%20");
  }

  const checkKeys = async (): Promise<void> => void (await currentKeys(undefined));

  return {
    ...createStoreClient(settings, { sign, codeOf, describe: describeS3Request }),
    settings,
    checkKeys,
    presign,
  };
}

/** Whether the keys have expired. A response to HEAD has no body, so any 400, 401 or 403 may mean this. */
function isExpired({ method }: StoreRequest, status: number, code: string): boolean {
  return EXPIRED.test(code) || (method === "HEAD" && /^40[013]$/.test(`${status}`));
}

/** Describes a request for the log, without keys and signatures. */
export function describeS3Request({ method, key, query = {} }: StoreRequest): string {
  return [
    method,
    key ?? "bucket",
    ...Object.keys(query).filter((name) => /^(?:uploads?|uploadId|delete|partNumber)$/.test(name)),
  ].join(" ");
}
