import { toServerPath } from "../account/path.ts";
import { toChallenges } from "../auth/challenge.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import { toUploadErrorReply } from "../endpoints/uploads/upload-errors.ts";
import { toLockErrorReply } from "../endpoints/webdav/lock-error-reply.ts";
import { toCorsFields } from "../http/origins/cors.ts";
import type { Reply } from "../http/reply.ts";
import { withoutAnyContent, withoutContent } from "../http/reply.ts";
import { isTusContent } from "../http/uploads/protocol.ts";
import { TUS_VERSION } from "../http/uploads/vocabulary.ts";
import type { RequestContext } from "../request/context.ts";
import { emitErrorEvent } from "../request/emit-event.ts";
import { toStatus } from "../request/errors.ts";
import { type ErrorPageLinks, errorReply } from "../views/errors.ts";
import { toAllow } from "./find-route.ts";
import type { ResolvedUrl } from "./resolve-url.ts";
import type { Served } from "./routes.ts";

const CREATING_METHODS: readonly string[] = ["PUT", "MKCOL"];
/** URLs whose responses no cache may store: session IDs, login pages, password forms (SECURITY 16), offsets, health. */
const UNCACHED: readonly ResolvedUrl["kind"][] = [
  "login",
  "logout",
  "sign-on",
  "sign-on-callback",
  "password-update",
  "account",
  "keys",
  "key",
  "quota",
  "trash",
  "versions",
  "upload",
  "uploads",
  "health",
];

/** A link is a secret that stands in the URL: no other site and no search engine gets it (SHARING 9.1). */
const LINK_FIELDS: Reply["headers"] = [
  ["Referrer-Policy", "no-referrer"],
  ["X-Robots-Tag", "noindex, nofollow"],
];

/** Adds what all responses of a service have in common. */
export interface ResponseFinisher {
  /**
   * The response to a request that has failed. Emits its event for a 400 and a 500, unless the client has disconnected.
   */
  respondToError(error: unknown, context: RequestContext, url: ResolvedUrl, served: readonly Served[]): Reply;
  /** Adds the headers that responses have in common (1.4, SECURITY 21), and removes the content for HEAD. */
  finish(context: RequestContext, url: ResolvedUrl, response: Reply): Reply;
}

/** Makes the finisher of a service. */
export function createResponseFinisher(config: ServiceConfig): ResponseFinisher {
  function respondToError(error: unknown, context: RequestContext, url: ResolvedUrl, served: readonly Served[]): Reply {
    const { kind } = url;
    const refusal = context.failureOf(error);
    const { failure, message, headers } = refusal;
    const status = toStatus(failure, context.variant);
    if (!context.request.signal.aborted) emitErrorEvent(context, status, message);
    const fields = {
      ...headers,
      "WWW-Authenticate":
        status === 401
          ? toChallenges(context.request, context.variant, config, headers["WWW-Authenticate"])
          : undefined,
      // RFC 9110 10.2.1: a resource that already exists does not support being created.
      Allow: status === 405 ? toAllow(kind, served, failure === "already-exists" ? CREATING_METHODS : []) : undefined,
    };
    const ofUpload = kind === "upload" || context.upload !== undefined;
    const problem = ofUpload ? toUploadErrorReply(context, refusal, status, fields) : undefined;
    if (problem !== undefined) return problem;
    const ofLock = toLockErrorReply(context, refusal, status, fields);
    if (ofLock !== undefined) return ofLock;
    return errorReply(context, status, refusal, fields, { links: toErrorLinks(context, url, status) });
  }

  /** If the page of the account's root fails, its user can only log out. */
  function toLogoutLink({ request }: RequestContext): ErrorPageLinks {
    const hasSession = config.session.cookie.read(request.headers) !== undefined;
    return hasSession ? { logout: `${config.basePath}/__svc__/logout` } : {};
  }

  /**
   * Where an error page leads. Below a link that is its root, unless the link has ended or the root itself fails. If
   * the token does not open, the page is that of any unknown URL.
   */
  function toErrorLinks(context: RequestContext, url: ResolvedUrl, status: number): ErrorPageLinks | undefined {
    if (context.root !== `${config.basePath}/home/`) return status === 410 || isRoot(url) ? {} : { link: context.root };
    return isHome(url) ? toLogoutLink(context) : undefined;
  }

  const varyByOrigin = config.cors === undefined ? "" : ", Origin";

  /** Who may cache the response, and what it depends on. */
  function toCaching(request: Request, url: ResolvedUrl, { status, headers, body }: Reply): Reply["headers"] {
    const { kind } = url;
    // Assets are public, and their names change with their content.
    if (kind === "asset" && status < 300) {
      return [
        ["Cache-Control", "public, max-age=31536000, immutable"],
        ["Vary", `Accept-Encoding${varyByOrigin}`],
      ];
    }
    const hasMessages = body !== undefined && request.headers.has("x-messages");
    const isTranslated = hasMessages || headers.some(([name]) => name === "Content-Language");
    const varyByPreference = kind === "folder" && request.headers.has("prefer") ? ", Prefer" : "";
    const varyByDigest =
      (kind === "file" || kind === "version") && config.digests !== undefined ? toWantedNames(request.headers) : "";
    const varyByLanguage = isTranslated ? ", Accept-Language" : "";
    const vary = [
      "Vary",
      `Accept, Authorization, Cookie${varyByLanguage}${varyByPreference}${varyByDigest}${varyByOrigin}`,
    ] as const;
    // A redirect to a URL that is valid for a short time says so itself.
    if (headers.some(([name]) => name === "Cache-Control")) return [vary];
    return [vary, ["Cache-Control", isUncached(url, headers) ? "no-store" : "private, no-cache"]];
  }

  function finish(context: RequestContext, url: ResolvedUrl, content: Reply): Reply {
    const { kind, path } = url;
    const { request, method, upload } = context;
    const toHeadReply = request.method === "HEAD" ? withoutContent : withoutAnyContent;
    const { status, headers, body } = method === "HEAD" ? toHeadReply(content) : content;
    const common: (readonly [string, string])[] = [
      ["Server", config.serverHeader],
      ["X-Content-Type-Options", "nosniff"],
      ["Cross-Origin-Resource-Policy", "same-origin"],
    ];
    common.push(...toCaching(request, url, content));
    if (kind === "file" || kind === "folder" || kind === "upload") {
      common.push(["Server-Path", toServerPath(upload?.path ?? path.segments)]);
    }
    if (isByTus(context, kind)) common.push(["Tus-Resumable", TUS_VERSION]);
    for (const [name, value] of Object.entries(upload?.fields ?? {}))
      if (value !== undefined) common.push([name, value]);
    if (config.cors !== undefined) {
      const allow = headers.find(([name]) => name === "Allow")?.[1];
      common.push(...toCorsFields(config.cors, request, allow));
    }
    return { status, headers: withLinkFields(url, headers).concat(common), body };
  }

  return { respondToError, finish };
}

/** The headers of a request that decide on digests in its response, for `Vary`. */
function toWantedNames(headers: Headers): string {
  const ofFile = headers.has("want-repr-digest") ? ", Want-Repr-Digest" : "";
  return headers.has("want-content-digest") ? `${ofFile}, Want-Content-Digest` : ofFile;
}

/** Whether a response belongs to tus. All of these have its version, errors too (RESUMABLE 3.12). */
function isByTus({ request, method, uploads }: RequestContext, kind: ResolvedUrl["kind"]): boolean {
  if (uploads === undefined || (kind !== "upload" && kind !== "uploads" && method !== "POST")) return false;
  const { headers } = request;
  return method !== "OPTIONS" && (headers.has("tus-resumable") || (kind === "upload" && isTusContent(headers)));
}

function withLinkFields({ token, isOfLinks }: ResolvedUrl, headers: Reply["headers"]): Reply["headers"] {
  if (token === undefined && isOfLinks !== true) return headers;
  const others = headers.filter(([name]) => LINK_FIELDS.every(([own]) => own !== name));
  return [...others, ...LINK_FIELDS];
}

/** Whether no cache may store a response. Below a link, only files and archives may be stored by the client itself. */
function isUncached({ kind, token, isOfLinks }: ResolvedUrl, headers: Reply["headers"]): boolean {
  if (UNCACHED.includes(kind) || isOfLinks === true) return true;
  return (
    token !== undefined &&
    !headers.some(([name]) => name === "Content-Disposition" || (name === "ETag" && kind !== "folder"))
  );
}

function isHome(url: ResolvedUrl): boolean {
  return url.token === undefined && isRoot(url);
}

function isRoot({ kind, path }: ResolvedUrl): boolean {
  return kind === "folder" && path.segments.length === 0;
}
