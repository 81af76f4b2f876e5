import { toServerPath } from "../account/path.ts";
import { toChallenges } from "../auth/challenge.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Api } from "../contracts/api.ts";
import { toCorsFields } from "../http/origins/cors.ts";
import type { Reply } from "../http/reply.ts";
import { withoutContent } from "../http/reply.ts";
import type { RequestContext } from "../request/context.ts";
import { emitErrorEvent } from "../request/emit-event.ts";
import { toStatus } from "../request/errors.ts";
import { errorReply } from "../views/errors.ts";
import { type ResolvedUrl, toAllow } from "./routes.ts";

const CREATING_METHODS: readonly string[] = ["PUT", "MKCOL"];
/** URLs whose responses no cache may store: session IDs, login pages and password forms (SECURITY 16). */
const UNCACHED: readonly ResolvedUrl["kind"][] = ["login", "logout", "password-update"];

/** Adds what all responses of a service have in common. */
export interface ResponseFinisher {
  /**
   * The response to a request that has failed. Emits its event for a 400 and a 500, unless the client has disconnected.
   */
  toErrorReply(error: unknown, context: RequestContext, url: ResolvedUrl, apis: readonly Api[]): Reply;
  /** Adds the headers that responses have in common (1.4, SECURITY 21), and removes the content for HEAD. */
  finish(context: RequestContext, url: ResolvedUrl, response: Reply): Reply;
}

/** Makes the finisher of a service. */
export function createResponseFinisher(config: ServiceConfig): ResponseFinisher {
  function toErrorReply(error: unknown, context: RequestContext, { kind }: ResolvedUrl, apis: readonly Api[]): Reply {
    const refusal = context.failureOf(error);
    const { failure, message, headers } = refusal;
    const status = toStatus(failure, context.variant);
    if (!context.request.signal.aborted) emitErrorEvent(context, status, message);
    return errorReply(context, status, refusal, {
      ...headers,
      "WWW-Authenticate":
        status === 401 ? toChallenges(context.request, context.variant, config.session.announce) : undefined,
      // RFC 9110 10.2.1: a resource that already exists does not support being created.
      Allow: status === 405 ? toAllow(kind, apis, failure === "already-exists" ? CREATING_METHODS : []) : undefined,
    });
  }

  const varyByOrigin = config.cors === undefined ? "" : ", Origin";

  /** Who may cache the response, and what it depends on. */
  function toCaching(kind: ResolvedUrl["kind"], status: number, headers: Reply["headers"]): Reply["headers"] {
    // Assets are public, and their names change with their content.
    if (kind === "asset" && status < 300) {
      const caching = ["Cache-Control", "public, max-age=31536000, immutable"] as const;
      return config.cors === undefined ? [caching] : [caching, ["Vary", "Origin"]];
    }
    const isTranslated = headers.some(([name]) => name === "Content-Language");
    return [
      ["Vary", `Accept, Authorization, Cookie${isTranslated ? ", Accept-Language" : ""}${varyByOrigin}`],
      ["Cache-Control", UNCACHED.includes(kind) ? "no-store" : "private, no-cache"],
    ];
  }

  function finish({ request }: RequestContext, { kind, path }: ResolvedUrl, content: Reply): Reply {
    const { status, headers, body } = request.method === "HEAD" ? withoutContent(content) : content;
    const common: (readonly [string, string])[] = [
      ["Server", config.serverHeader],
      ["X-Content-Type-Options", "nosniff"],
      ["Cross-Origin-Resource-Policy", "same-origin"],
    ];
    common.push(...toCaching(kind, status, headers));
    if (kind === "file" || kind === "folder") common.push(["Server-Path", toServerPath(path.segments)]);
    if (config.cors !== undefined) {
      const allow = headers.find(([name]) => name === "Allow")?.[1];
      common.push(...toCorsFields(config.cors, request, allow));
    }
    return { status, headers: headers.concat(common), body };
  }

  return { toErrorReply, finish };
}
