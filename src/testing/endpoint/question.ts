import type { Credentials } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { HeaderLines } from "../../outbound/headers.ts";
import { exchange, type RemoteResponse } from "../../outbound/send-request.ts";
import { readOptions } from "../../remote-auth/authenticator/options.ts";
import { toVerdict } from "../../remote-auth/authenticator/verdict.ts";
import type { AuthenticationRequest } from "../../schemas/remote-auth.ts";
import type { EndpointCaseContext } from "./case.ts";
import { makeUpPeer } from "./samples.ts";

/** An answer, and what in it a service would not take. */
export interface CheckedResponse extends RemoteResponse {
  readonly problems: readonly string[];
}

/** What a question has other than an ordinary one. */
export interface Deviation {
  readonly method?: string;
  readonly contentType?: string;
  /** The content in place of the one made of credentials. */
  readonly body?: string;
  /** What the service proves itself with, in place of the context's. */
  readonly authorization?: (own: HeaderLines) => HeaderLines;
}

const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

const timeouts = new WeakSet<Error>();

/** An account that nobody has: a new name each time. */
export function makeUpName(): string {
  return `fileferry-check-${crypto.randomUUID()}`;
}

/** What a service sends for credentials (2.3); unlike a service it sends empty ones, too. */
export function toRequest({ type, username, content, peer }: Credentials): AuthenticationRequest {
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
 * Asks by the very exchange of a service, and has the answer judged as a service judges it. Rejects when no whole answer comes, with
 * the reason.
 * @throws TypeError naming what of the context is wrong.
 */
export async function ask(
  context: EndpointCaseContext,
  credentials: Credentials,
  { method = "POST", contentType, body = JSON.stringify(toRequest(credentials)), authorization }: Deviation = {},
): Promise<CheckedResponse> {
  const { url, headers = {}, username = "", password = "", timeoutSeconds = 30, fetch: given, onAnswer } = context;
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

  const begun = Date.now();
  const lines = authorization === undefined ? settings.headers : authorization(settings.headers);
  const outcome = await exchange(address, new TextEncoder().encode(body), {
    fetch: deviate,
    headers: lines,
    timeoutSeconds: settings.timeoutSeconds,
  });
  if (!outcome.responded) {
    const error = new Error(`no whole answer came: ${outcome.details}`);
    if (outcome.details.startsWith("timed out")) timeouts.add(error);
    throw error;
  }
  onAnswer?.({ status: outcome.status, milliseconds: Date.now() - begun });
  return { ...outcome, problems: toVerdict(outcome).audit.problems ?? [] };
}

/** Whether a case was ended by the time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && timeouts.has(error);
}

function replaceType(name: string, value: string, contentType: string): [string, string] {
  return [name, name === "Content-Type" ? contentType : value];
}

/** Whether a service would let the account in, or come near it: any success is one too many. */
export function isSuccess({ status }: RemoteResponse): boolean {
  return status >= 200 && status < 300;
}

/** Fails unless the credentials were judged and refused, by an answer that a service takes. */
export function expectRefusal(response: CheckedResponse, what: string): void {
  if (isSuccess(response)) throw new Error(`${what} was accepted: answered ${response.status}`);
  if (response.status !== 401 && response.status !== 403) {
    throw new Error(`${what} is to be answered 401 or 403, found ${describeStatus(response)}`);
  }
  expectNoProblems(response, what);
}

/** Fails when something was accepted; how it is refused is free. */
export function expectNoSuccess(response: CheckedResponse, what: string): void {
  if (isSuccess(response)) throw new Error(`${what} was accepted: answered ${response.status}`);
}

/** Fails when a service would not take the answer as it is, with all that is wrong. */
export function expectNoProblems({ status, problems }: CheckedResponse, what: string): void {
  if (problems.length > 0) throw new Error(`${what}: the answer with ${status} is not valid: ${problems.join("; ")}`);
}

/** A status, with a word on those that are never meant. */
export function describeStatus({ status }: RemoteResponse): string {
  if (status === 0 || (status >= 300 && status < 400)) return `${status || "a redirect"}: redirects are not followed`;
  return String(status);
}
