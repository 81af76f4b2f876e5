import { AwsV4Signer } from "aws4fetch";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createDeadline, type Deadline } from "../object-store/http/deadline.ts";
import { encodeKey, encodePart } from "../object-store/http/encode.ts";
import {
  type StoreRequestBody,
  type StoreStreamedBody,
  toStoreRequestBody,
  toStoreStreamedBody,
} from "../object-store/http/request-body.ts";
import { readText, type StoreBody, toBody } from "../object-store/http/response-body.ts";
import { isTemporary, toWait, wait } from "../object-store/http/retry.ts";
import { createKeySource } from "./credentials.ts";
import { codeOf, isDone, type S3Response } from "./errors.ts";
import type { S3Credentials, S3Settings } from "./options.ts";

/**
 * A request to a store. It may be sent more than once, unless its body is streamed. A caller whose request must not be
 * done twice checks `attempts` of the response.
 */
export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Key of the object. Default: the request is for the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Headers of the request. All are signed except `range`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | StoreStreamedBody;
  readonly signal?: AbortSignal | undefined;
  /** Additional milliseconds that the response headers may take. */
  readonly patience?: number;
}

/** A response. If it is a success, its body must be read or closed. */
export interface S3Opened extends S3Response {
  readonly body: StoreBody | undefined;
}

/** Signs and sends requests, and retries them. */
export interface S3Client {
  readonly settings: S3Settings;
  /**
   * Returns the last response to a request, whatever its status. Rejects with `unavailable` if no response arrived, and
   * with the signal's reason if the signal aborts.
   */
  call(request: S3Request): Promise<S3Response>;
  /** As `call`, but leaves the body of a success unread. */
  open(request: S3Request): Promise<S3Opened>;
  /** Returns a URL at which everyone can read an object for a time. Rejects with `unavailable` if there are no keys. */
  presign(key: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string>;
}

/** Slowest connection that may send a body, in bytes per millisecond. */
const SLOWEST = 64;
/** Error codes for expired keys. */
const EXPIRED = /^(?:ExpiredToken|InvalidToken|InvalidAccessKeyId|TokenRefreshRequired)$/;

/** Creates a client of one bucket. */
export function createS3Client(settings: S3Settings): S3Client {
  const keys = createKeySource(settings);
  const signingKeys = new Map<string, ArrayBuffer>();

  async function call(request: S3Request): Promise<S3Response> {
    return send(request, false);
  }

  function open(request: S3Request): Promise<S3Opened> {
    return send(request, true);
  }

  async function send(request: S3Request, isOpen: boolean): Promise<S3Opened> {
    const isStreamed = isStreamedBody(request.body);
    let mayRefresh = !isStreamed;
    for (let attempt = 1; ; attempt += 1) {
      request.signal?.throwIfAborted();
      const credentials = await currentKeys(request.signal);
      const signed = await signedBy(credentials, request);
      request.signal?.throwIfAborted();
      const outcome = await tryOnce(request, signed, isOpen);
      request.signal?.throwIfAborted();
      if (mayRefresh && isExpired(request, outcome) && keys.refuse(credentials)) {
        mayRefresh = false;
        continue;
      }
      const { response } = outcome;
      const isLast = isStreamed || attempt > settings.retries;
      if (response !== undefined && (isLast || !isTemporary(response.status, outcome.code)))
        return { ...response, attempts: attempt };
      if (isLast) throw new StorageError("unavailable", `${describeS3Request(request)}: ${outcome.failure}`);
      await wait(toWait(attempt, response?.headers.get("retry-after") ?? null, settings), request.signal);
    }
  }

  async function currentKeys(signal: AbortSignal | undefined): Promise<S3Credentials> {
    try {
      return await keys.current(signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw new StorageError("unavailable", `No credentials for the store: ${nameOf(error)}`);
    }
  }

  /**
   * Signs a request. A failure, for example because a key does not fit into a header, is not retried. The error message
   * is left out because it may quote the keys.
   */
  async function signedBy(credentials: S3Credentials, request: S3Request): Promise<Signed> {
    try {
      return await sign(request, credentials);
    } catch (error) {
      throw new StorageError(
        "unavailable",
        `${describeS3Request(request)}: the request cannot be signed: ${nameOf(error)}`,
      );
    }
  }

  async function tryOnce(request: S3Request, signed: Signed, isOpen: boolean): Promise<Outcome> {
    const { signal, body: content } = request;
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    let isLate = false;
    const deadline = createDeadline(() => {
      isLate = true;
      controller.abort();
    });
    const heldBytes = isStreamedBody(content) ? 0 : (content?.byteLength ?? 0);
    deadline.start(settings.headersTimeout + (request.patience ?? 0) + heldBytes / SLOWEST);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const opened = await settings.fetch(signed.url, toInit(signed, toSentBody(content, deadline), controller.signal));
      deadline.close();
      const body = toBody(opened.body, settings.idleTimeout, () => controller.abort());
      const { status, headers } = opened;
      const isBodyOpen = isOpen && status >= 200 && status < 300;
      const text = isBodyOpen || request.method === "HEAD" ? "" : await readText(body);
      const response = { status, headers, text, attempts: 0, body: isBodyOpen ? body : undefined };
      return { response, code: isDone(response) ? "" : codeOf(response) };
    } catch (error) {
      return { failure: isLate ? "no response in time" : nameOf(error) };
    } finally {
      deadline.close();
      signal?.removeEventListener("abort", abort);
    }
  }

  function toSentBody(content: S3Request["body"], deadline: Deadline): StoreRequestBody | undefined {
    if (!isStreamedBody(content)) return content && toStoreRequestBody(content);
    return toStoreStreamedBody(content, {
      onWait: deadline.pause,
      onBytes: () => deadline.start(settings.headersTimeout),
    });
  }

  function toSigner(
    { method, key = "", query = {}, headers = {} }: S3Request,
    credentials: S3Credentials,
    signQuery = false,
  ): AwsV4Signer {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const search = Object.entries(query).map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
    if (signingKeys.size > 32) signingKeys.clear();
    return new AwsV4Signer({
      method,
      signQuery,
      url: `${settings.url}${encodeKey(key)}${search.length === 0 ? "" : `?${search.join("&")}`}`,
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

  async function sign(request: S3Request, credentials: S3Credentials): Promise<Signed> {
    const signed = await toSigner(request, credentials).sign();
    // Not signed, because some stores and proxies change this header on the way.
    signed.headers.set("Accept-Encoding", "identity");
    return { url: signed.url.href, method: request.method, headers: signed.headers };
  }

  async function presign(key: string, query: Readonly<Record<string, string>>, seconds: number): Promise<string> {
    const credentials = await currentKeys(undefined);
    const request = { method: "GET", key, query: { ...query, "X-Amz-Expires": String(seconds) } } as const;
    const { url } = await toSigner(request, credentials, true).sign();
    // The signature covers spaces as `%20`, and not every store takes `+` for one.
    return url.href.replace(/\+/g, "%20");
  }

  return { settings, call, open, presign };
}

/** A signed request without its body, which is not signed. */
interface Signed {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
}

function toInit({ method, headers }: Signed, body: StoreRequestBody | undefined, signal: AbortSignal): RequestInit {
  const { contentLength, ...content } = body ?? {};
  if (contentLength !== undefined) headers.set("Content-Length", String(contentLength));
  return { method, headers, redirect: "manual", ...content, signal };
}

function isStreamedBody(body: S3Request["body"]): body is StoreStreamedBody {
  return body !== undefined && "chunks" in body;
}

/**
 * The result of one attempt: a response with its error code, which is empty for a success, or the reason why there is
 * no response.
 */
type Outcome =
  | { readonly failure: string; readonly response?: undefined }
  | { readonly failure?: undefined; readonly response: S3Opened; readonly code: string };

/** Whether the keys have expired. A response to HEAD has no body, so any 400, 401 or 403 may mean this. */
function isExpired({ method }: S3Request, outcome: Outcome): boolean {
  if (outcome.response === undefined) return false;
  return EXPIRED.test(outcome.code) || (method === "HEAD" && /^40[013]$/.test(`${outcome.response.status}`));
}

/** Describes a request for the log, without keys and signatures. */
export function describeS3Request({ method, key, query = {} }: S3Request): string {
  return [
    method,
    key ?? "bucket",
    ...Object.keys(query).filter((name) => /^(?:uploads?|uploadId|delete|partNumber)$/.test(name)),
  ].join(" ");
}

/** Returns the code or name of an error. Its message may quote the request. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : "code" in error ? error.code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : error.name;
}
