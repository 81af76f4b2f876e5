import { isStorageError, StorageError } from "../../../contracts/storage-adapter.ts";
import { wait } from "../../../platform/wait.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import {
  type StoreRequestBody,
  type StoreStreamedBody,
  toStoreRequestBody,
  toStoreStreamedBody,
} from "./request-body.ts";
import { readText, type StoreBody, toBody } from "./response-body.ts";
import { isTemporary, type RetrySettings, toWait } from "./retry.ts";

/**
 * A request to a store. It may be sent more than once, unless its body is streamed. A caller whose request must not be
 * done twice checks `attempts` of the response.
 */
export interface StoreRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Key of the object. Default: the request is for the bucket or container. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Headers of the request, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | StoreStreamedBody;
  readonly signal?: AbortSignal | undefined;
  /** Additional milliseconds that the response headers may take. */
  readonly patience?: number;
}

/** A response without an unread body. */
export interface StoreResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Text of the body; empty for HEAD and for a body that the caller reads. */
  readonly text: string;
  /** Number of attempts. If there was more than one, an earlier attempt may already have made the change. */
  readonly attempts: number;
}

/** A response. If it is a success, its body must be read or closed. */
export interface OpenedResponse extends StoreResponse {
  readonly body: StoreBody | undefined;
}

/** Signs and sends requests, and retries them. */
export interface StoreClient<Request extends StoreRequest> {
  /**
   * Returns the last response to a request, whatever its status. Rejects with `unavailable` if no response arrived, and
   * with the signal's reason if the signal aborts.
   */
  call(request: Request): Promise<StoreResponse>;
  /** As `call`, but leaves the body of a success unread. */
  open(request: Request): Promise<OpenedResponse>;
}

/** The part of `fetch` that a storage uses. */
export type StoreFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How requests are sent. Durations are in milliseconds. */
export interface SendSettings extends RetrySettings {
  readonly headersTimeout: number;
  readonly idleTimeout: number;
  readonly fetch: StoreFetch;
}

/** What differs between the protocols of stores. */
export interface StoreProtocol<Request extends StoreRequest> {
  /** Signs one attempt. If this fails, the request is not retried. */
  sign(request: Request): Promise<SignedAttempt>;
  /** Returns the error code of a response, or the empty string. */
  codeOf(response: StoreResponse): string;
  /** Describes a request for the log, without keys and signatures. */
  describe(request: Request): string;
}

/** One attempt of a request, without its body, which is not signed. */
export interface SignedAttempt {
  readonly url: string;
  readonly headers: Headers;
  /**
   * Whether a response with this status and code says that the keys of the signature have expired, and new ones may be
   * had. The request is then sent once more without a wait.
   */
  readonly mayRenewKeys?: (status: number, code: string) => boolean;
}

/** The result of one attempt: a response with its error code, or the reason why there is none. */
type Outcome =
  | { readonly failure: string; readonly response?: undefined }
  | { readonly failure?: undefined; readonly response: OpenedResponse; readonly code: string };

/** Slowest connection that may send a body, in bytes per millisecond. */
const SLOWEST = 64;

/** Creates a client of one store. */
export function createStoreClient<Request extends StoreRequest>(
  settings: SendSettings,
  { sign, codeOf, describe }: StoreProtocol<Request>,
): StoreClient<Request> {
  async function send(request: Request, isOpen: boolean): Promise<OpenedResponse> {
    const { signal } = request;
    const isStreamed = isStreamedBody(request.body);
    let mayRenew = !isStreamed;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const signed = await signAttempt(request);
      signal?.throwIfAborted();
      const outcome = await tryOnce(request, signed, isOpen);
      signal?.throwIfAborted();
      const { response } = outcome;
      if (mayRenew && response !== undefined && signed.mayRenewKeys?.(response.status, outcome.code)) {
        mayRenew = false;
        continue;
      }
      const isLast = isStreamed || attempt > settings.retries;
      if (response !== undefined && (isLast || !isTemporary(response.status, outcome.code))) {
        return { ...response, attempts: attempt };
      }
      if (isLast) throw new StorageError("unavailable", `${describe(request)}: ${outcome.failure}`);
      await wait(toWait(attempt, response?.headers.get("retry-after") ?? null, settings), signal);
    }
  }

  /** Signs an attempt. Other messages than those of the storage are left out because they may quote the keys. */
  async function signAttempt(request: Request): Promise<SignedAttempt> {
    try {
      return await sign(request);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (isStorageError(error)) throw error;
      const what = describe(request);
      throw new StorageError("unavailable", `${what}: the request cannot be signed: ${toErrorName(error)}`);
    }
  }

  async function tryOnce(request: Request, { url, headers }: SignedAttempt, isOpen: boolean): Promise<Outcome> {
    const { method, signal, body: content, patience = 0 } = request;
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    let isLate = false;
    const deadline = createDeadline(() => {
      isLate = true;
      controller.abort();
    });
    const heldBytes = isStreamedBody(content) ? 0 : (content?.byteLength ?? 0);
    deadline.start(settings.headersTimeout + patience + heldBytes / SLOWEST);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const { contentLength, ...sent } = toSentBody(content, deadline) ?? {};
      if (contentLength !== undefined) headers.set("Content-Length", String(contentLength));
      const init = { method, headers, redirect: "manual", ...sent, signal: controller.signal } as const;
      const opened = await settings.fetch(url, init);
      deadline.close();
      const body = toBody(opened.body, settings.idleTimeout, () => controller.abort());
      const { status } = opened;
      const isBodyOpen = isOpen && isSuccessful({ status });
      const text = isBodyOpen || method === "HEAD" ? "" : await readText(body);
      const response = { status, headers: opened.headers, text, attempts: 0, body: isBodyOpen ? body : undefined };
      return { response, code: isSuccessful(response) ? "" : codeOf(response) };
    } catch (error) {
      return { failure: isLate ? "no response in time" : toErrorName(error) };
    } finally {
      deadline.close();
      signal?.removeEventListener("abort", abort);
    }
  }

  function toSentBody(content: StoreRequest["body"], deadline: Deadline): StoreRequestBody | undefined {
    if (!isStreamedBody(content)) return content && toStoreRequestBody(content);
    return toStoreStreamedBody(content, {
      onWait: deadline.pause,
      onBytes: () => deadline.start(settings.headersTimeout),
    });
  }

  return { call: (request) => send(request, false), open: (request) => send(request, true) };
}

/** Whether a response is a success. */
export function isSuccessful({ status }: Pick<StoreResponse, "status">): boolean {
  return status >= 200 && status < 300;
}

function isStreamedBody(body: StoreRequest["body"]): body is StoreStreamedBody {
  return body !== undefined && "chunks" in body;
}

/** Returns the code or name of an error. Its message may quote the request. */
export function toErrorName(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : "code" in error ? error.code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : error.name;
}
