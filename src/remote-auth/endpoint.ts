import type { z } from "zod";
import type { Logger } from "../contracts/logger.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import { isHttpError } from "../http/http-error.ts";
import { bytesReply, emptyReply, type Reply } from "../http/reply.ts";
import { createHandler } from "../http/reply-handler.ts";
import { readJsonBody } from "../http/request-body.ts";
import { hasLoneSurrogate } from "../platform/text-encoding.ts";
import { type AuthenticationRequest, authenticationRequestSchema } from "../schemas/remote-auth.ts";
import { type Authorizer, createAuthorizer, type EndpointAuthorization } from "./endpoint/authorization.ts";
import { type AuthenticationOutcome, type AuthenticationOutcomes, createOutcomeRecorder } from "./endpoint/outcome.ts";
import { describeThrown } from "./endpoint/safe-error.ts";
import { isJson } from "./json-body.ts";

/** The options of an authentication endpoint. */
export interface AuthenticationEndpointOptions {
  /**
   * Verifies one set of credentials, and returns the result of one of the three functions that it gets. If it throws,
   * the error is logged and the response is 503: the credentials were not verified, so this is no failed login. If it
   * returns any other value, this is logged and the response is 500. The service refuses the login in both cases (7.2).
   * The time that this takes must not reveal whether an account exists.
   */
  readonly authenticate: (
    request: AuthenticationRequest,
    outcomes: AuthenticationOutcomes,
  ) => AuthenticationOutcome | Promise<AuthenticationOutcome>;
  /**
   * How the service must authenticate itself before its request is read (5.2). Default: not at all, any client may ask.
   */
  readonly authorize?: EndpointAuthorization;
  /** Where failures are logged, never with a secret of a request. Default: the console. */
  readonly logger?: Logger;
}

/** Handles the requests of 4.7. It never rejects. */
export type AuthenticationEndpoint = (request: Request) => Promise<Response>;

type Fields = Readonly<Record<string, string>>;

const OPTIONS = ["authenticate", "authorize", "logger"];
/** A request has one name and one secret; the longest secret is a chain of certificates. */
const MAX_REQUEST_BYTES = 256 * 1024;
/** No service waits longer for the response. */
const MAX_REQUEST_MILLISECONDS = 30_000;
const TOO_SLOW = Symbol("too slow");
const CONTENT_TYPES = {
  json: "application/json; charset=utf-8",
  plain: "text/plain; charset=utf-8",
} as const;

/**
 * The endpoint of the external authentication method (4.7), as a handler for any runtime with the fetch API. It reads
 * and checks the request (2.3), calls `authenticate`, and responds according to the status table (7.2).
 *
 * It refuses invalid requests:
 *
 * - 405 for any method but POST,
 * - 401 with a challenge if the service does not authenticate itself; the 401 for an unknown account has no challenge,
 * - 415 for a body that is not JSON, 413 for more than 256 KiB, 408 after 30 s,
 * - 400 with the names of members that are missing or wrong. An empty name or secret is wrong: `authenticate` never
 *   gets one.
 * @throws TypeError naming the option that is wrong.
 */
export function createAuthenticationEndpoint(options: AuthenticationEndpointOptions): AuthenticationEndpoint {
  const { authenticate, authorizer, logger } = checkOptions(options);
  const { outcomes, toResponse } = createOutcomeRecorder();

  async function handle(request: Request): Promise<Reply> {
    if (request.method !== "POST") return refuse(405, "Only POST is allowed.", { Allow: "POST" });
    if (authorizer !== undefined && !(await authorizer.isAuthorized(request.headers))) {
      return refuse(401, "The service is not authorized.", { "WWW-Authenticate": authorizer.challenge });
    }
    if (!isPlainJson(request.headers)) return refuse(415, "The content must be application/json in UTF-8.");
    const read = await readRequest(request);
    return "refusal" in read ? read.refusal : verify(read.request);
  }

  async function verify(request: AuthenticationRequest): Promise<Reply> {
    let outcome: unknown;
    try {
      outcome = await authenticate(request, outcomes);
    } catch (thrown) {
      report(
        { error: describeThrown(thrown, request) },
        "An authentication endpoint could not verify the credentials.",
      );
      // If a directory is down, the password is not wrong: a 503 tells the service that the credentials were not
      // verified (RFC 9110 15.6.4).
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
      // A failure of the logger must not fail the request too.
    }
  }

  return createHandler(async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      // The error holds nothing of the body: errors of its content are handled where it is read.
      report({ error }, "An authentication request could not be read.");
      return respond(500, new Uint8Array());
    }
  });
}

interface CheckedOptions {
  readonly authenticate: AuthenticationEndpointOptions["authenticate"];
  readonly authorizer: Authorizer | undefined;
  readonly logger: Logger;
}

/** Refuses unknown options: with a misspelt `authorize`, any client could use the endpoint. */
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
  // An `authorize` that is present but undefined is a secret that was not found.
  const authorizer = "authorize" in options ? createAuthorizer(authorize as EndpointAuthorization) : undefined;
  return { authenticate, authorizer, logger };
}

type ReadRequest = { readonly request: AuthenticationRequest } | { readonly refusal: Reply };

async function readRequest(request: Request): Promise<ReadRequest> {
  let body: unknown;
  try {
    body = await orTooSlow(readJsonBody(request, { maxBytes: MAX_REQUEST_BYTES }));
  } catch (error) {
    // If other code has read the body before, the operator must fix that, so the error is logged.
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

/** What was read, or a value that stands for "not in time". */
async function orTooSlow(reading: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise((resolve) => {
    timer = setTimeout(resolve, MAX_REQUEST_MILLISECONDS, TOO_SLOW);
  });
  // Later failures of the reading do not matter.
  reading.catch(() => undefined);
  try {
    return await Promise.race([reading, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Many directories accept a login with an empty password as an anonymous one (RFC 4513 5.1.2). No service sends one.
 */
function isUnfit(text: string): boolean {
  return text === "" || hasLoneSurrogate(text);
}

/** The members that the schema rejects. The paths name only members of the schema, nothing that the client sent. */
function toMemberPaths({ issues }: z.ZodError): readonly string[] {
  return [...new Set(issues.map(({ path }) => path.map(String).join(".") || "the body"))];
}

function refuseMembers(paths: readonly string[]): Reply {
  return refuse(400, `Missing or invalid: ${paths.join(", ")}.`);
}

function isPlainJson(headers: Headers): boolean {
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  return isJson(headers.get("content-type")) && encoding === "identity";
}

/** A refusal with a short fixed text. */
function refuse(status: number, text: string, fields: Fields = {}): Reply {
  return respond(status, new TextEncoder().encode(text), { ...fields, "Content-Type": CONTENT_TYPES.plain });
}

function respond(status: number, content: Uint8Array, fields: Fields = {}): Reply {
  const common = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  if (status === 204) return emptyReply(status, common);
  return bytesReply(status, content, { ...fields, ...common });
}
