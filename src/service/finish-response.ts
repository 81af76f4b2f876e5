import { toServerPath } from "../account/path.ts";
import { toChallenges } from "../auth/challenge.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import { withoutContent } from "../http/responses.ts";
import type { RequestContext } from "../request/context.ts";
import { emitErrorEvent } from "../request/emit-event.ts";
import { toStatus } from "../request/errors.ts";
import { errorResponse } from "../views/errors.ts";
import { type Api, type ResolvedUrl, toAllow } from "./routes.ts";

const CREATING_METHODS: readonly string[] = ["PUT", "MKCOL"];
/** Session IDs, login pages and password forms are nobody else's (SECURITY 16). */
const UNCACHED: readonly ResolvedUrl["shape"][] = ["login", "logout", "password-update"];

/** What all answers of a service have in common. */
export interface ResponseFinisher {
  /** The answer to a request that has failed, of which the operator is told. */
  toErrorResponse(error: unknown, context: RequestContext, resolved: ResolvedUrl, apis: readonly Api[]): Response;
  /** An answer with what each carries (1.4, SECURITY 21). Assets are everybody's and never change, pages are in the client's language. */
  finish(context: RequestContext, resolved: ResolvedUrl, answer: Response): Response;
}

/** The answers of one service. */
export function createResponseFinisher(config: ServiceConfig): ResponseFinisher {
  function toErrorResponse(
    error: unknown,
    context: RequestContext,
    { shape }: ResolvedUrl,
    apis: readonly Api[],
  ): Response {
    const { failure, message, headers } = context.failureOf(error);
    const status = toStatus(failure, context.variant);
    if (!context.request.signal.aborted) emitErrorEvent(context, status, message);
    return errorResponse(context, status, message, {
      ...headers,
      "WWW-Authenticate":
        status === 401 ? toChallenges(context.request, context.variant, config.session.announce) : undefined,
      // RFC 9110 10.2.1: what exists already does not support being created.
      Allow: status === 405 ? toAllow(shape, apis, failure === "already-exists" ? CREATING_METHODS : []) : undefined,
    });
  }

  function finish({ request }: RequestContext, { shape, path }: ResolvedUrl, answer: Response): Response {
    const response = request.method === "HEAD" ? withoutContent(answer) : answer;
    const { headers } = response;
    headers.set("Server", config.serverHeader);
    headers.set("X-Content-Type-Options", "nosniff");
    if (shape === "asset" && response.ok) {
      headers.set("Cache-Control", "public, max-age=31536000, immutable");
      return response;
    }
    headers.set("Vary", `Accept, Authorization, Cookie${headers.has("Content-Language") ? ", Accept-Language" : ""}`);
    headers.set("Cache-Control", UNCACHED.includes(shape) ? "no-store" : "private, no-cache");
    if (shape === "file" || shape === "folder") headers.set("Server-Path", toServerPath(path.segments));
    return response;
  }

  return { toErrorResponse, finish };
}
