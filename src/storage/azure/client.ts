import { StorageError } from "../../contracts/storage-adapter.ts";
import { createDeadline } from "../object-store/http/deadline.ts";
import { encodeKey, encodePart } from "../object-store/http/encode.ts";
import { toStoreRequestBody } from "../object-store/http/request-body.ts";
import { readText, type StoreBody, toBody } from "../object-store/http/response-body.ts";
import { isTemporary, toWait, wait } from "../object-store/http/retry.ts";
import { type AzureResponse, isAzureSuccess, toAzureCode } from "./errors.ts";
import type { AzureSettings } from "./options.ts";
import { API_VERSION, createSignText, type SignedReadParameters, toReadQuery, toSignedText } from "./signature.ts";

/** A request to a store. It may be sent more than once: a caller checks `attempts` of the response. */
export interface AzureRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Key of the blob. Default: the request is for the container. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Headers of the request, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Sends this signed URL without a signature in the headers. */
  readonly signedUrl?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A response. If it is a success, its body must be read or closed. */
export interface AzureOpened extends AzureResponse {
  readonly body: StoreBody | undefined;
}

/** Signs and sends requests, and retries them. */
export interface AzureClient {
  readonly settings: AzureSettings;
  /**
   * Returns the last response to a request, whatever its status. Rejects with `unavailable` if no response arrived, and
   * with the signal's reason if the signal aborts.
   */
  call(request: AzureRequest): Promise<AzureResponse>;
  /** As `call`, but leaves the body of a success unread. */
  open(request: AzureRequest): Promise<AzureOpened>;
  /** Returns a URL at which everyone can read a blob for a time. */
  presign(key: string, seconds: number, parameters: SignedReadParameters): Promise<string>;
}

/** Slowest connection that may send a body, in bytes per millisecond. */
const SLOWEST = 64;

/** The result of one attempt: a response, or the reason why there is none. */
type Outcome =
  | { readonly failure: string; readonly response?: undefined }
  | { readonly failure?: undefined; readonly response: AzureOpened };

/** Creates a client of one container. */
export function createAzureClient(settings: AzureSettings): AzureClient {
  const signText = createSignText(settings);

  async function send(request: AzureRequest, isOpen: boolean): Promise<AzureOpened> {
    const { signal } = request;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const outcome = await tryOnce(request, isOpen);
      signal?.throwIfAborted();
      const { response } = outcome;
      const isLast = attempt > settings.retries;
      if (response !== undefined && (isLast || !isTemporary(response.status, toAzureCode(response)))) {
        return { ...response, attempts: attempt };
      }
      if (isLast) throw new StorageError("unavailable", `${describeAzureRequest(request)}: ${outcome.failure}`);
      await wait(toWait(attempt, response?.headers.get("retry-after") ?? null, settings), signal);
    }
  }

  async function tryOnce(request: AzureRequest, isOpen: boolean): Promise<Outcome> {
    const { method, signal, body: content } = request;
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    let isLate = false;
    const deadline = createDeadline(() => {
      isLate = true;
      controller.abort();
    });
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const { url, headers } = await sign(request);
      deadline.start(settings.headersTimeout + (content?.byteLength ?? 0) / SLOWEST);
      const { contentLength, ...sent } = content === undefined ? {} : toStoreRequestBody(content);
      const length = contentLength === undefined ? {} : { "content-length": String(contentLength) };
      const init = {
        method,
        headers: { ...headers, ...length },
        redirect: "manual",
        signal: controller.signal,
      } as const;
      const opened = await settings.fetch(url, { ...init, ...sent });
      deadline.close();
      const body = toBody(opened.body, settings.idleTimeout, () => controller.abort());
      const { status } = opened;
      const isBodyOpen = isOpen && isAzureSuccess({ status });
      const text = isBodyOpen || method === "HEAD" ? "" : await readText(body);
      return { response: { status, headers: opened.headers, text, attempts: 0, body: isBodyOpen ? body : undefined } };
    } catch (error) {
      return { failure: isLate ? "no response in time" : toFailure(error) };
    } finally {
      deadline.close();
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Each attempt has its own time, and so its own signature. */
  async function sign({ method, key = "", query = {}, headers = {}, body, signedUrl }: AzureRequest) {
    const search = Object.entries(query).map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
    const path = key === "" ? settings.url.slice(0, -1) : `${settings.url}${encodeKey(key)}`;
    const url = new URL(signedUrl ?? `${path}${search.length === 0 ? "" : `?${search.join("&")}`}`);
    const sent: Record<string, string> = {
      ...headers,
      "x-ms-date": new Date(settings.clock()).toUTCString(),
      "x-ms-version": API_VERSION,
    };
    if (signedUrl === undefined) {
      const text = toSignedText(settings.account, { method, url, headers: sent, contentLength: body?.byteLength ?? 0 });
      sent["authorization"] = `SharedKey ${settings.account}:${await signText(text)}`;
    }
    // Not part of the signature.
    return { url: url.href, headers: { ...sent, "accept-encoding": "identity" } };
  }

  async function presign(key: string, seconds: number, parameters: SignedReadParameters): Promise<string> {
    return `${settings.url}${encodeKey(key)}?${await toReadQuery(signText, settings, { key, seconds, ...parameters })}`;
  }

  return { settings, call: (request) => send(request, false), open: (request) => send(request, true), presign };
}

/** Describes a request for the log, without keys and signatures. */
export function describeAzureRequest({ method, key, query = {} }: AzureRequest): string {
  return [method, key ?? "container", ...(query["comp"] === undefined ? [] : [query["comp"]])].join(" ");
}

/** Returns the code or name of an error. Its message may quote the request. */
function toFailure(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : "code" in error ? error.code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : error.name;
}
