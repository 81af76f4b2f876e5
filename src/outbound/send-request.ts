import { readBytes } from "../platform/read-bytes.ts";
import type { Recipient, RemoteUrl } from "./destination.ts";
import { describeFailure } from "./network-errors.ts";

/** The outcome of a request to one URL. */
export type Outcome = RemoteResponse | NoResponse;

/** A complete response with any status. */
export interface RemoteResponse {
  readonly responded: true;
  readonly url: RemoteUrl;
  /** 0 for a redirect whose status the platform hides. */
  readonly status: number;
  readonly contentType: string | null;
  /** The value of `Retry-After`. */
  readonly retryAfter: string | null;
  /** Whether the response has a `WWW-Authenticate`: the request's own credentials were missing or refused. */
  readonly challenged: boolean;
  readonly body: RemoteBody;
}

/** The bytes of a response, or a problem in English. */
export type RemoteBody = { readonly bytes: Uint8Array } | { readonly problem: string };

/** There was no complete response in time. */
export interface NoResponse {
  readonly responded: false;
  readonly url: RemoteUrl;
  /** The reason, in English and without secrets. */
  readonly details: string;
  /** The error code of the system, of OpenSSL or of the platform's fetch, if there is one. */
  readonly code?: string;
}

/** Describes the outcome of a URL in English. */
export function describeOutcome(outcome: Outcome): string {
  return `${outcome.url.shown}: ${outcome.responded ? `responded with status ${outcome.status}` : outcome.details}`;
}

/** Maximum size of a response. */
const MAX_RESPONSE_BYTES = 1_048_576;

interface Sending extends Pick<Recipient, "fetch" | "headers" | "timeoutSeconds"> {
  /** Aborts the request, as its deadline does. */
  readonly signal?: AbortSignal;
}

/**
 * Sends one request and reads the response, with one deadline for both. It never rejects. A response may have at most 1
 * MiB and no content encoding. It is released in every case.
 */
export async function sendRequest(url: RemoteUrl, body: Uint8Array<ArrayBuffer>, sending: Sending): Promise<Outcome> {
  const { timeoutSeconds, signal } = sending;
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp = (): void => undefined;
  // `fetch` may ignore its signal, so the deadline is a promise of its own.
  const deadline = new Promise<never>((_, reject) => {
    giveUp = () => {
      controller.abort();
      reject(new Error("The deadline has passed."));
    };
    timer = setTimeout(giveUp, timeoutSeconds * 1000);
    if (signal?.aborted) giveUp();
    else signal?.addEventListener("abort", giveUp);
  });
  try {
    const response = await receive(send(url, body, sending, controller.signal), deadline);
    return await toRemoteResponse(url, response, deadline);
  } catch (error) {
    if (signal?.aborted) return { responded: false, url, details: "no response before the deadline" };
    if (controller.signal.aborted) return { responded: false, url, details: `timed out after ${timeoutSeconds} s` };
    return { responded: false, url, ...describeFailure(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

async function send(
  url: RemoteUrl,
  body: Uint8Array<ArrayBuffer>,
  { fetch: request, headers }: Sending,
  signal: AbortSignal,
): Promise<Response> {
  return request(url.href, {
    method: "POST",
    headers: [
      ...headers.map(([name, value]): [string, string] => [name, value]),
      ["Content-Type", "application/json; charset=utf-8"],
      ["Accept", "application/json"],
      ["Accept-Encoding", "identity"],
    ],
    body,
    redirect: "manual",
    signal,
    ...browserInit(),
  });
}

/** No cookies, cache and referrer, on platforms that have them. workerd has none, and throws if `cache` is given. */
function browserInit(): RequestInit {
  const isKnown = (member: string): boolean => member in (globalThis.Request?.prototype ?? {});
  return {
    ...(isKnown("cache") && { cache: "no-store" }),
    ...(isKnown("credentials") && { credentials: "omit" }),
    ...(isKnown("referrerPolicy") && { referrerPolicy: "no-referrer" }),
  };
}

/** Also releases a response that arrives after the deadline. */
async function receive(sent: Promise<Response>, deadline: Promise<never>): Promise<Response> {
  try {
    return await Promise.race([sent, deadline]);
  } catch (error) {
    sent.then(release).catch(() => undefined);
    throw error;
  }
}

async function toRemoteResponse(url: RemoteUrl, response: Response, deadline: Promise<never>): Promise<RemoteResponse> {
  const { status, headers } = response;
  return {
    responded: true,
    url,
    status,
    contentType: headers.get("content-type"),
    retryAfter: headers.get("retry-after"),
    challenged: headers.has("www-authenticate"),
    body: await toBody(response, deadline),
  };
}

async function toBody(response: Response, deadline: Promise<never>): Promise<RemoteBody> {
  if (isEncoded(response.headers.get("content-encoding"))) {
    release(response);
    return { problem: "the body has a Content-Encoding, which was not requested" };
  }
  const reader = response.body?.getReader();
  if (reader === undefined) return { bytes: new Uint8Array() };
  try {
    const bytes = await Promise.race([readBytes(reader, MAX_RESPONSE_BYTES), deadline]);
    return bytes === undefined ? { problem: "the body is larger than 1 MiB" } : { bytes };
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function isEncoded(contentEncoding: string | null): boolean {
  const codings = (contentEncoding ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  return codings.some((coding) => coding !== "" && coding !== "identity");
}

function release(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
