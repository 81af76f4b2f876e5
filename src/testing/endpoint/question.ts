import type { Credentials } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { HeaderLines } from "../../outbound/headers.ts";
import { type RemoteResponse, sendRequest } from "../../outbound/send-request.ts";
import { readOptions } from "../../remote-auth/authenticator/options.ts";
import { toVerdict } from "../../remote-auth/authenticator/verdict.ts";
import type { AuthenticationRequest } from "../../schemas/remote-auth.ts";
import type { EndpointCaseContext } from "./case.ts";
import { makeUpPeer } from "./samples.ts";

/** A response, with everything in it that a service would reject. */
export interface CheckedResponse extends RemoteResponse {
  readonly problems: readonly string[];
}

/** How a request differs from an ordinary one. */
export interface Deviation {
  readonly method?: string;
  readonly contentType?: string;
  /** Replaces the body that is made of the credentials. */
  readonly body?: string;
  /** Replaces the authorization of the service. */
  readonly authorization?: (own: HeaderLines) => HeaderLines;
}

const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

const timeouts = new WeakSet<Error>();

/** Returns a new username that no account has. */
export function makeUpName(): string {
  return `fileferry-check-${crypto.randomUUID()}`;
}

/**
 * Creates the request that a service sends for credentials (2.3). A service does not send empty credentials, but this
 * function does.
 */
export function toAuthRequest({ type, username, content, peer }: Credentials): AuthenticationRequest {
  return {
    credentials: {
      type,
      username,
      content,
      peer: peer ?? makeUpPeer(),
      creator: { uuid: "5a31c4b2-6f0e-4a4d-9d0a-3c1f7b2e8d64", type: "https" },
    },
    server: { uuid: "0d6c5f5e-8a55-4c55-b7d8-6c9d9e0f4b21" },
  };
}

/**
 * Sends credentials with the code of a service, and checks the response as a service does. Rejects with the reason if
 * no complete response arrives.
 * @throws TypeError that names the wrong member of the context.
 */
export async function ask(
  context: EndpointCaseContext,
  credentials: Credentials,
  { method = "POST", contentType, body = JSON.stringify(toAuthRequest(credentials)), authorization }: Deviation = {},
): Promise<CheckedResponse> {
  const { url, headers = {}, username = "", password = "", timeoutSeconds = 30, fetch: given, onResponse } = context;
  const settings = readOptions({ url: [url], headers, username, password, timeoutSeconds, logger: silent });
  const [address] = settings.urls;
  if (address === undefined) throw new TypeError("A URL is needed.");
  const send = given ?? settings.fetch;

  function deviate(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
    const lines = (init.headers ?? []) as [string, string][];
    const fields =
      contentType === undefined ? lines : lines.map(([name, value]) => replaceType(name, value, contentType));
    if (method === "POST") return send(input, { ...init, headers: fields });
    const { body: _, ...bare } = init;
    return send(input, { ...bare, method, headers: fields.filter(([name]) => name !== "Content-Type") });
  }

  const startedAt = Date.now();
  const lines = authorization === undefined ? settings.headers : authorization(settings.headers);
  const outcome = await sendRequest(address, new TextEncoder().encode(body), {
    fetch: deviate,
    headers: lines,
    timeoutSeconds: settings.timeoutSeconds,
  });
  if (!outcome.responded) {
    const error = new Error(`no complete response: ${outcome.details}`);
    if (outcome.details.startsWith("timed out")) timeouts.add(error);
    throw error;
  }
  onResponse?.({ status: outcome.status, milliseconds: Date.now() - startedAt });
  return { ...outcome, problems: toVerdict(outcome).audit.problems ?? [] };
}

/** Whether a case failed because of the time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && timeouts.has(error);
}

function replaceType(name: string, value: string, contentType: string): [string, string] {
  return [name, name === "Content-Type" ? contentType : value];
}

/** Whether a response is a success. Any success would let the account in. */
export function isSuccess({ status }: RemoteResponse): boolean {
  return status >= 200 && status < 300;
}

/** Fails unless the endpoint rejected the credentials with a response that a service accepts. */
export function expectRejected(response: CheckedResponse, what: string): void {
  if (isSuccess(response)) throw new Error(`${what} was accepted: the response is ${response.status}`);
  if (response.status !== 401 && response.status !== 403) {
    throw new Error(`the response to ${what} must be 401 or 403, but it is ${describeStatus(response)}`);
  }
  expectNoProblems(response, what);
}

/** Fails if credentials were accepted. Any refusal is right. */
export function expectNoSuccess(response: CheckedResponse, what: string): void {
  if (isSuccess(response)) throw new Error(`${what} was accepted: the response is ${response.status}`);
}

/** Fails if a service would not accept the response, and lists everything that is wrong. */
export function expectNoProblems({ status, problems }: CheckedResponse, what: string): void {
  if (problems.length > 0) throw new Error(`${what}: the response with ${status} is invalid: ${problems.join("; ")}`);
}

/** Describes a status. Redirects are explained, because they are never right. */
export function describeStatus({ status }: RemoteResponse): string {
  if (status === 0 || (status >= 300 && status < 400)) return `${status || "a redirect"}: redirects are not followed`;
  return String(status);
}
