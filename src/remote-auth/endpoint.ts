import type { z } from "zod";
import type { Logger } from "../contracts/logger.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import { isHttpError } from "../http/http-error.ts";
import { readJsonBody } from "../http/request-body.ts";
import { Response } from "../platform/fetch.ts";
import { hasLoneSurrogate } from "../platform/text-encoding.ts";
import { type AuthenticationRequest, authenticationRequestSchema } from "../schemas/remote-auth.ts";
import { type Authorizer, createAuthorizer, type EndpointAuthorization } from "./endpoint/authorization.ts";
import { type AuthenticationOutcome, type AuthenticationOutcomes, createOutcomeRecorder } from "./endpoint/outcome.ts";
import { describeThrown } from "./endpoint/safe-error.ts";
import { isJson } from "./json-body.ts";

/** What an authentication endpoint is made of. */
export interface AuthenticationEndpointOptions {
  /**
   * Judges one set of credentials, and returns what one of the three functions has made. What it throws is logged and answered 503:
   * nobody could judge, which is no failed login. Any other value is logged and answered 500. The service takes both for a refusal
   * (7.2). It must not tell by its time whether an account exists.
   */
  readonly authenticate: (
    request: AuthenticationRequest,
    outcomes: AuthenticationOutcomes,
  ) => AuthenticationOutcome | Promise<AuthenticationOutcome>;
  /** What the service itself must prove before its request is read (5.2). Default: nothing, anybody may ask. */
  readonly authorize?: EndpointAuthorization;
  /** Where failures are reported, never with a secret of a request. Default: the console. */
  readonly logger?: Logger;
}

/** Answers requests of 4.7. Never rejects. */
export type AuthenticationEndpoint = (request: Request) => Promise<Response>;

type Fields = Readonly<Record<string, string>>;

const OPTIONS = ["authenticate", "authorize", "logger"];
/** A request holds one name and one secret; the longest of them is a chain of certificates. */
const MAX_REQUEST_BYTES = 256 * 1024;
/** A service has asked and given up by then. */
const MAX_REQUEST_MILLISECONDS = 30_000;
const TOO_SLOW = Symbol("too slow");
const CONTENT_TYPES = {
  json: "application/json; charset=utf-8",
  plain: "text/plain; charset=utf-8",
} as const;

/**
 * The integrator's side of the external authentication method (4.7): a handler for any runtime with the fetch API, which reads and
 * checks the request (2.3), asks `authenticate`, and answers by the status table (7.2). Requests that are none are refused: 405 for
 * any method but POST, 401 with a challenge for a service that is not authorized, 415, 413 above 256 KiB, 408 after 30 s, and 400 naming the members
 * that are missing, wrong, or as good as: an empty name or secret never comes to `authenticate`. The 401 of an unknown account has no challenge.
 * @throws TypeError naming the option that is wrong.
 */
export function createAuthenticationEndpoint(options: AuthenticationEndpointOptions): AuthenticationEndpoint {
  const { authenticate, authorizer, logger } = checkOptions(options);
  const { outcomes, toResponse } = createOutcomeRecorder();

  async function handle(request: Request): Promise<Response> {
    if (request.method !== "POST") return refuse(405, "Only POST is allowed.", { Allow: "POST" });
    if (authorizer !== undefined && !(await authorizer.isAuthorized(request.headers))) {
      return refuse(401, "The service is not authorized.", { "WWW-Authenticate": authorizer.challenge });
    }
    if (!isPlainJson(request.headers)) return refuse(415, "The content must be application/json in UTF-8.");
    const read = await readRequest(request);
    return "refusal" in read ? read.refusal : verify(read.request);
  }

  async function verify(request: AuthenticationRequest): Promise<Response> {
    let outcome: unknown;
    try {
      outcome = await authenticate(request, outcomes);
    } catch (thrown) {
      report(
        { error: describeThrown(thrown, request) },
        "An authentication endpoint could not verify the credentials.",
      );
      // A directory that is down is nobody's wrong password: of a 503 the service knows that nobody has judged (RFC 9110 15.6.4).
      return respond(503, new Uint8Array(), { "Retry-After": "1" });
    }
    const response = toResponse(outcome);
    if (response === undefined) {
      report({}, "An authentication endpoint did not return a result of accept, unknown or reject.");
      return respond(500, new Uint8Array());
    }
    if ("problems" in response) {
      report(
        { problems: response.problems },
        "An authentication endpoint returned a result that does not follow the interface.",
      );
      return respond(500, new Uint8Array());
    }
    return "content" in response
      ? respond(response.status, response.content, { "Content-Type": CONTENT_TYPES[response.type] })
      : respond(response.status, new Uint8Array());
  }

  function report(details: Readonly<Record<string, unknown>>, message: string): void {
    try {
      logger.error(details, message);
    } catch {
      // A log that fails must not fail the request as well.
    }
  }

  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      // Nothing of the body is in it: errors of reading are answered where it is read.
      report({ error }, "An authentication request could not be read.");
      return respond(500, new Uint8Array());
    }
  };
}

interface CheckedOptions {
  readonly authenticate: AuthenticationEndpointOptions["authenticate"];
  readonly authorizer: Authorizer | undefined;
  readonly logger: Logger;
}

/** A misspelt `authorize` would open the endpoint to everybody: unknown options are errors. */
function checkOptions(options: AuthenticationEndpointOptions): CheckedOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("createAuthenticationEndpoint needs options.");
  }
  const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
  if (unknown !== undefined) throw new OptionError(unknown, "left out: it is not a known option");
  const { authenticate, authorize, logger = console } = options;
  checkOption(typeof authenticate === "function", "authenticate", "a function");
  const isLogger = typeof logger === "object" && typeof logger?.error === "function";
  checkOption(isLogger, "logger", "a logger with info, warn and error");
  // An `authorize` that is there but undefined is a secret that was not found.
  const authorizer = "authorize" in options ? createAuthorizer(authorize as EndpointAuthorization) : undefined;
  return { authenticate, authorizer, logger };
}

type ReadRequest = { readonly request: AuthenticationRequest } | { readonly refusal: Response };

async function readRequest(request: Request): Promise<ReadRequest> {
  let body: unknown;
  try {
    body = await orTooSlow(readJsonBody(request, { maxBytes: MAX_REQUEST_BYTES }));
  } catch (error) {
    // Who has read the body before us is the host's to mend: it has to hear of it.
    if (!isHttpError(error) || error.failure === "internal") throw error;
    return { refusal: refuse(error.failure === "too-large" ? 413 : 400, error.message) };
  }
  if (body === TOO_SLOW) return { refusal: refuse(408, "The request took too long.") };
  const { success, data, error } = authenticationRequestSchema.safeParse(body);
  if (!success) return { refusal: refuseMembers(toMemberPaths(error)) };
  const unfit = (["username", "content"] as const).filter((member) => isUnfit(data.credentials[member]));
  if (unfit.length > 0) return { refusal: refuseMembers(unfit.map((member) => `credentials.${member}`)) };
  return { request: data };
}

/** What was read, or the word that it is not there in time. */
async function orTooSlow(reading: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise((resolve) => {
    timer = setTimeout(resolve, MAX_REQUEST_MILLISECONDS, TOO_SLOW);
  });
  // What becomes of it later is nobody's.
  reading.catch(() => undefined);
  try {
    return await Promise.race([reading, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** An empty password lets a directory's login succeed as that of nobody in particular (RFC 4513 5.1.2): no service sends one. */
function isUnfit(text: string): boolean {
  return text === "" || hasLoneSurrogate(text);
}

/** The members that the schema finds wrong. It names none but its own: nothing that was sent is in the paths. */
function toMemberPaths({ issues }: z.ZodError): readonly string[] {
  return [...new Set(issues.map(({ path }) => path.map(String).join(".") || "the body"))];
}

function refuseMembers(paths: readonly string[]): Response {
  return refuse(400, `Missing or invalid: ${paths.join(", ")}.`);
}

function isPlainJson(headers: Headers): boolean {
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  return isJson(headers.get("content-type")) && encoding === "identity";
}

/** A refusal with a short fixed text. */
function refuse(status: number, text: string, fields: Fields = {}): Response {
  return respond(status, new TextEncoder().encode(text), { ...fields, "Content-Type": CONTENT_TYPES.plain });
}

function respond(status: number, content: Uint8Array<ArrayBuffer>, fields: Fields = {}): Response {
  const common = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  if (status === 204) return new Response(null, { status, headers: common });
  const headers = { ...fields, ...common, "Content-Length": String(content.byteLength) };
  return new Response(content.byteLength === 0 ? null : content, { status, headers });
}
