import type { Identification } from "../auth/identification.ts";
import { type KeyIdentifier, toEventKey } from "../auth/keys/identify-key.ts";
import type { WatchLogin } from "../auth/watch-login.ts";
import { unauthorizedReply } from "../endpoints/login/unauthorized.ts";
import { createError } from "../http/errors.ts";
import { isSafe } from "../http/methods.ts";
import { isSameOrigin } from "../http/origins/same-origin.ts";
import type { Reply } from "../http/reply.ts";
import { emptyReply } from "../http/reply.ts";
import { toUploadFeatureFields } from "../http/uploads/fields.ts";
import { requireCompleteContent, toUploadMethod } from "../http/uploads/protocol.ts";
import type { PermitHolder, RequestPermits } from "../limits/permits.ts";
import type {
  AccountContext,
  AccountEndpoint,
  LimitedContext,
  LinkService,
  RequestContext,
} from "../request/context.ts";
import { withEvents } from "../transfers/files-with-events.ts";
import { endWithLogin } from "../transfers/login-watch.ts";
import { isTransfer, refuseTransfer } from "../transfers/too-many-transfers.ts";
import type { Anonymous } from "./anonymous.ts";
import { findRoute, hasRoutes, toAllow } from "./find-route.ts";
import type { ResponseFinisher } from "./finish-response.ts";
import { openLinkRequest, runWithLink } from "./link-requests.ts";
import { withLinkRules } from "./link-rules.ts";
import { withPermits } from "./request-permits.ts";
import type { ResolvedUrl } from "./resolve-url.ts";
import type { Route, Served } from "./routes.ts";
import type { FilesOpener, StorageAccounts } from "./storage-accounts.ts";

/** The kinds of URLs where resumable uploads are created, and of the uploads themselves. */
const UPLOAD_KINDS: readonly ResolvedUrl["kind"][] = ["file", "folder", "upload", "uploads"];
/**
 * The kinds of URLs that an API key may use. Those of keys and links are not among them: what a key made there would
 * stay valid after the key has ended, and the URLs of links are secrets.
 */
const OPEN_TO_KEYS: readonly ResolvedUrl["kind"][] = [
  ...UPLOAD_KINDS,
  "start",
  "account",
  "quota",
  "trash",
  "versions",
  "version",
];

/** What dispatching needs in addition to the context of a request. */
export interface DispatchOptions {
  readonly finisher: ResponseFinisher;
  readonly accounts: StorageAccounts;
  readonly permitsOf: (holder: PermitHolder, address: string | undefined) => RequestPermits;
  readonly watchLogin: WatchLogin;
  /** Whether an API key that was verified is still valid. Absent: the service has no keys. */
  readonly isLiveKey: KeyIdentifier["isLive"] | undefined;
  /** Absent: each request needs a login. */
  readonly anonymous: Anonymous | undefined;
}

/**
 * Runs the endpoint of a URL and method, and finishes its response. Failures become error responses.
 */
export type Dispatch = (context: RequestContext, url: ResolvedUrl, served: readonly Served[]) => Promise<Reply>;

type Identified = Extract<Identification, { outcome: "identified" }>;

/**
 * Makes the dispatch of a service: route, identification, cross-site check, what an API key may use, permits, account,
 * endpoint, in this order. An open endpoint needs no identification. The link of a URL is opened before the route is
 * known.
 */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { finisher, accounts, permitsOf, watchLogin, isLiveKey, anonymous } = options;

  async function dispatch(context: RequestContext, url: ResolvedUrl, served: readonly Served[]): Promise<Reply> {
    try {
      return finisher.finish(context, url, await run(context, url, served));
    } catch (error) {
      return finisher.finish(context, url, finisher.respondToError(error, context, url, served));
    }
  }

  async function run(context: RequestContext, url: ResolvedUrl, served: readonly Served[]): Promise<Reply> {
    const { request, connection, identifier, links } = context;
    if (url.kind === "upload") context.method = toUploadMethod(request);
    const isByLink = url.token !== undefined && url.kind !== "share" && context.method !== "OPTIONS";
    if (isByLink && links !== undefined) return runByLink(context, links, url, served);
    const route = toRoute(url, context.method, served);
    if (route === "options") return toOptionsReply(context, url, served);
    if (context.uploads === undefined) refuseResumable(context, url);
    const { kind, endpoint } = route;
    if (endpoint.access === "open") {
      const permits = permitsOf("anyone", connection.peer?.address);
      return withPermits(permits, () => endpoint.run(Object.assign(context, permits)));
    }
    const identification = await (endpoint.access === "session"
      ? identifier.identifySession(request, connection)
      : identifier.identify(request, connection));
    if (identification.outcome !== "identified") return runUnidentified(context, url, endpoint, identification);
    if (identification.key !== undefined) context.eventKey = toEventKey(identification.key);
    refuseCrossSite(context, identification);
    requireOpenToKey(identification, kind);
    // The account has other URLs below `/home/`, such as the password page, which transfer no files.
    const isTransferRequest = (kind === "file" || kind === "folder" || kind === "upload") && isTransfer(context);
    return runForAccount(context, identification, endpoint.run, isTransferRequest);
  }

  async function runUnidentified(
    context: RequestContext,
    url: ResolvedUrl,
    endpoint: Route["endpoint"],
    unidentified: Exclude<Identification, Identified>,
  ): Promise<Reply> {
    if (unidentified.outcome === "anonymous" && endpoint.access === "account" && anonymous?.serves(context, url.kind)) {
      refuseResumable(context, url);
      return anonymous.run(context, unidentified, endpoint.run);
    }
    return unauthorizedReply(context, unidentified);
  }

  /** A link replaces the login. Its refusals come before those of the method (SHARING 4). */
  async function runByLink(
    context: RequestContext,
    links: LinkService,
    url: ResolvedUrl,
    served: readonly Served[],
  ): Promise<Reply> {
    const address = context.connection.peer?.address;
    const beforeOpen = permitsOf("anyone", address);
    const opening = () => openLinkRequest(Object.assign(context, beforeOpen), links, accounts, url);
    const opened = await withPermits(beforeOpen, opening);
    if ("reply" in opened) return opened.reply;
    if (!isSafe(context.method) && !isSameOrigin(context, context.config)) throw createError("cross-site");
    const permits = permitsOf({ link: opened.link.record.id }, address);
    const complete = Object.assign(context, permits, opened, { scheme: "link" as const });
    if (isTransfer(context) && !permits.transferPermit.acquire()) throw refuseTransfer(complete);
    return withPermits(permits, async () => {
      const route = toRoute(url, context.method, served);
      if (route === "options" || route.endpoint.access !== "account") throw createError("not-found");
      if (context.uploads === undefined) refuseResumable(context, url);
      return runWithLink(complete, links, withLinkRules(route.kind, route.endpoint.run), !isSafe(context.method));
    });
  }

  async function runForAccount(
    context: RequestContext,
    identified: Identified,
    endpoint: AccountEndpoint,
    isTransferRequest: boolean,
  ): Promise<Reply> {
    const { login, scheme } = identified;
    context.connection.onIdentified?.(login.username);
    const permits = permitsOf({ account: login.username }, context.connection.peer?.address);
    const limited: LimitedContext = Object.assign(context, permits);
    // Before the body is read or the storage is used: a transfer over the limit must cost little.
    if (isTransferRequest && !permits.transferPermit.acquire()) {
      const account = accounts.resolve(login.username, login.settings);
      const files = accounts.filesOf(account);
      const unused = { createDryFiles: () => files, confirmLogin: async () => undefined };
      const own = { account, settings: login.settings, scheme, files, ...unused };
      throw refuseTransfer(Object.assign(limited, own));
    }
    return withPermits(permits, async () => endpoint(await toAccountContext(limited, identified)));
  }

  async function toAccountContext(context: LimitedContext, identified: Identified): Promise<AccountContext> {
    const { config, admit } = context;
    const { clock } = config;
    const { login, scheme, session, key, attempt, remember } = identified;
    const since = clock();
    // The login of a session, or one that is remembered, has already prepared its home folder.
    const owner = attempt ? await admit(login, attempt, remember) : accounts.resolve(login.username, login.settings);
    const open = (opener: FilesOpener) =>
      key === undefined ? { account: owner, files: opener.filesOf(owner) } : opener.openByKey(owner, key);
    const { account, files: own } = open(accounts);
    const { files, confirmLogin } = endWithLogin(own, {
      since,
      clock,
      idle: 1000 * config.session.idleSeconds,
      mayUpload: !isSafe(context.method),
      toError: () => createError("login-ended"),
      watch: () =>
        key === undefined ? watchLogin(login, session) : async () => (await isLiveKey?.(key, login.settings)) !== true,
    });
    const complete: AccountContext = Object.assign(context, {
      account,
      settings: login.settings,
      scheme,
      session,
      key,
      files,
      createDryFiles: () => open(accounts.forDryRun()).files,
      confirmLogin,
    });
    return context.hasListeners() ? Object.assign(complete, { files: withEvents(complete) }) : complete;
  }

  return dispatch;
}

/** Requires that API keys may use a URL. @throws HttpError `key-denied` */
function requireOpenToKey({ key }: Identified, kind: ResolvedUrl["kind"]): void {
  if (key !== undefined && !OPEN_TO_KEYS.includes(kind)) throw createError("key-denied");
}

/** The route for a URL and method. @throws HttpError if there is none. */
function toRoute({ kind }: ResolvedUrl, method: string, served: readonly Served[]): Route | "options" {
  if (kind === "malformed") throw createError("url-malformed");
  if (method === "OPTIONS" && kind !== "outside") return "options";
  if (!hasRoutes(kind, served)) throw createError("not-found");
  const route = findRoute(kind, method, served);
  if (route === "not-implemented") throw createError("method-not-implemented");
  if (route === "not-allowed") throw createError("method-not-allowed");
  return route;
}

/** The response to OPTIONS. Windows Explorer asks every URL, and needs a 200 without a login. */
function toOptionsReply({ config, uploads }: RequestContext, { kind }: ResolvedUrl, served: readonly Served[]): Reply {
  const hasUploads = UPLOAD_KINDS.includes(kind) && uploads !== undefined;
  const { maxFileBytes } = config.limits;
  const features = hasUploads && {
    canJoin: uploads.canJoin,
    ...(maxFileBytes > 0 && { maxBytes: maxFileBytes }),
    ...(uploads.times.maxAppendBytes > 0 && { maxAppendBytes: uploads.times.maxAppendBytes }),
  };
  const fields = { Allow: toAllow(kind, served), ...(features && toUploadFeatureFields(features)) };
  if (!served.includes("webdav-methods")) return emptyReply(204, fields);
  return emptyReply(200, { ...fields, DAV: "1, 2, 3", "MS-Author-Via": "DAV", "Content-Length": "0" });
}

/** Rejects a request of a resumable upload. Otherwise one part of the file would be stored as the complete file. */
function refuseResumable({ request, method }: RequestContext, { kind }: ResolvedUrl): void {
  if (kind !== "file" && kind !== "folder") return;
  if (method === "POST" && request.headers.has("tus-resumable")) throw createError("upload-unsupported");
  if (method === "PUT" && kind === "file") requireCompleteContent(request.headers);
}

/**
 * Rejects a request that may change something if a page of another site may have sent it. Browsers add all credentials
 * by themselves, except those in headers that a script sets (CONTRACT 6.5).
 */
function refuseCrossSite(context: RequestContext, identified: Identified): void {
  const { method, config, audit } = context;
  const { scheme } = identified;
  const isByHeader =
    scheme === "session" || scheme === "bearer" || (scheme === "identity" && config.identifiedBy === "header");
  if (isByHeader || isSafe(method) || isSameOrigin(context, config)) return;
  const attempt = identified.attempt ?? identified.toAttempt?.();
  if (attempt !== undefined) audit.refused(attempt, "cross-site");
  throw createError("cross-site");
}
