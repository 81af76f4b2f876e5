import { toServerPath } from "../account/path.ts";
import { toChallenges } from "../auth/challenge.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Api } from "../contracts/api.ts";
import { withoutContent } from "../http/responses.ts";
import type { RequestContext } from "../request/context.ts";
import { emitErrorEvent } from "../request/emit-event.ts";
import { toStatus } from "../request/errors.ts";
import { errorResponse } from "../views/errors.ts";
import { type ResolvedUrl, toAllow } from "./routes.ts";

const CREATING_METHODS: readonly string[] = ["PUT", "MKCOL"];
/** URLs whose responses no cache may store: session IDs, login pages and password forms (SECURITY 16). */
const UNCACHED: readonly ResolvedUrl["kind"][] = ["login", "logout", "password-update"];

/** Adds what all responses of a service have in common. */
export interface ResponseFinisher {
  /** The response to a request that has failed. Emits its event. */
  toErrorResponse(error: unknown, context: RequestContext, url: ResolvedUrl, apis: readonly Api[]): Response;
  /** Adds the headers that every response has (1.4, SECURITY 21), and removes the content for HEAD. */
  finish(context: RequestContext, url: ResolvedUrl, response: Response): Response;
}

/** Makes the finisher of a service. */
export function createResponseFinisher(config: ServiceConfig): ResponseFinisher {
  function toErrorResponse(
    error: unknown,
    context: RequestContext,
    { kind }: ResolvedUrl,
    apis: readonly Api[],
  ): Response {
    const { failure, message, headers } = context.failureOf(error);
    const status = toStatus(failure, context.variant);
    if (!context.request.signal.aborted) emitErrorEvent(context, status, message);
    return errorResponse(context, status, message, {
      ...headers,
      "WWW-Authenticate":
        status === 401 ? toChallenges(context.request, context.variant, config.session.announce) : undefined,
      // RFC 9110 10.2.1: a resource that already exists does not support being created.
      Allow: status === 405 ? toAllow(kind, apis, failure === "already-exists" ? CREATING_METHODS : []) : undefined,
    });
  }

  function finish({ request }: RequestContext, { kind, path }: ResolvedUrl, content: Response): Response {
    const response = request.method === "HEAD" ? withoutContent(content) : content;
    const { headers } = response;
    headers.set("Server", config.serverHeader);
    headers.set("X-Content-Type-Options", "nosniff");
    // Assets are public, and their names change with their content.
    if (kind === "asset" && response.ok) {
      headers.set("Cache-Control", "public, max-age=31536000, immutable");
      return response;
    }
    headers.set("Vary", `Accept, Authorization, Cookie${headers.has("Content-Language") ? ", Accept-Language" : ""}`);
    headers.set("Cache-Control", UNCACHED.includes(kind) ? "no-store" : "private, no-cache");
    if (kind === "file" || kind === "folder") headers.set("Server-Path", toServerPath(path.segments));
    return response;
  }

  return { toErrorResponse, finish };
}
