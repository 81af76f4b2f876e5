import type { Account } from "../account/account.ts";
import { createAuthenticationChain } from "../auth/chain.ts";
import { createIdentifier, type Identification, type Login } from "../auth/identify.ts";
import { createLoginAudit, type LoginAttempt } from "../auth/login-audit.ts";
import { createPasswordUpdates } from "../auth/passwords/update.ts";
import { createSessions } from "../auth/sessions/sessions.ts";
import { createLoginThrottle } from "../auth/throttle.ts";
import type { FileServiceOptions } from "../config/options.ts";
import { toServiceConfig } from "../config/service-config.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { FileService } from "../contracts/file-service.ts";
import { refuseUnidentified } from "../endpoints/login/unauthorized.ts";
import { createServiceEvents } from "../events/service-events.ts";
import { HttpError, isHttpError } from "../http/http-error.ts";
import { negotiateVariant, type Variant } from "../http/negotiate.ts";
import { parseTarget } from "../http/request-target.ts";
import { emptyResponse } from "../http/responses.ts";
import { isSameOrigin } from "../http/same-origin.ts";
import { createRequestPermits } from "../limits/permits.ts";
import { Response } from "../platform/fetch.ts";
import { withClient } from "../request/client-address.ts";
import type { AccountContext, AccountEndpoint, LimitedContext, RequestContext } from "../request/context.ts";
import { createFailureOf } from "../request/errors.ts";
import { adoptKeyv } from "../stores/keyv.ts";
import { createMemoryKeyValueStore } from "../stores/memory.ts";
import { withEvents } from "../transfers/files-with-events.ts";
import { keepAlive } from "../transfers/session-keep-alive.ts";
import { isTransfer, refuseTransfer } from "../transfers/too-many-transfers.ts";
import { createTexts } from "../views/texts.ts";
import { createAccountAdmission } from "./account-opener.ts";
import { createResponseFinisher } from "./finish-response.ts";
import { createDescriptions } from "./openapi.ts";
import { type Api, findRoute, hasRoutes, type ResolvedUrl, resolveUrl, toAllow, toOnlyVariant } from "./routes.ts";

const ALL_APIS: readonly Api[] = ["rest", "webdav", "browser"];
const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];
const NOWHERE: ResolvedUrl = { shape: "outside", path: { segments: [], isFolder: true } };

/**
 * Makes a file transfer service: pure handlers from `Request` to `Response`, over a storage and authenticators.
 * @throws TypeError naming the option that is wrong.
 */
export function createFileService(options: FileServiceOptions): FileService {
  const config = toServiceConfig(options);
  const { logger, clock, session, limits } = config;
  const store =
    session.store === undefined ? createMemoryKeyValueStore({ clock }) : adoptKeyv(session.store, { logger });
  const loginStore = limits.loginStore === undefined ? store : adoptKeyv(limits.loginStore, { logger });
  const chain = createAuthenticationChain(config.authentication, { logger });
  const sessions = createSessions({ ...session, store, clock, isCurrent: chain.isCurrent });
  const { loginAttempts: attempts, loginWindowSeconds: windowSeconds } = limits;
  const throttle = createLoginThrottle({ store: loginStore, attempts, windowSeconds, clock });
  const { server, component, usernameOfCertificate } = config;
  const events = createServiceEvents(config.listeners, { server, clock, logger });
  const { emit } = events;
  const audit = createLoginAudit({ emit, logger, component, clock });
  const chooseTexts = createTexts(config.pages.languages);
  const accounts = createAccountAdmission(config.storage, config.groups, config.limits.maxFileBytes);
  const identifier = createIdentifier({
    chain,
    sessions,
    throttle,
    audit,
    findAccountProblem,
    usernameOfCertificate,
    server,
    component,
    logger,
  });
  const permitsOf = createRequestPermits(config);
  const passwords = createPasswordUpdates({ chain, sessions, throttle, audit, policy: config.passwordPolicy });

  const describe = createDescriptions(config);
  const { finish, toErrorResponse } = createResponseFinisher(config);

  function report(error: unknown, id?: string): void {
    logger.error(id === undefined ? { error } : { error, id }, "A request failed.");
  }

  function findAccountProblem(username: string, settings: AccountSettings): string | undefined {
    try {
      accounts.resolve(username, settings);
      return undefined;
    } catch (error) {
      if (!isHttpError(error)) throw error;
      return toReason(error);
    }
  }

  /** Why valid credentials are refused, the client does not learn (CONTRACT 7.3): the audit does. */
  async function admit({ username, settings }: Login, attempt: LoginAttempt): Promise<Account> {
    try {
      const account = accounts.resolve(username, settings);
      await accounts.prepare(account);
      audit.accepted(attempt, account);
      return account;
    } catch (error) {
      audit.refused(attempt, "account", toReason(error));
      throw error;
    }
  }

  /** The one way of every request, from its URL to its answer. */
  async function handle(request: Request, connection: Connection, apis: readonly Api[]): Promise<Response> {
    const target = parseTarget(request.url);
    const resolved = toServed(resolveUrl(target, config.baseSegments) ?? NOWHERE);
    const variant = toVariant(request, resolved.shape, apis);
    const { path } = resolved;
    const context: RequestContext = {
      request,
      connection: withClient(connection, request, config),
      target,
      variant,
      path,
      config,
      identifier,
      sessions,
      passwords,
      audit,
      admit,
      report,
      failureOf: createFailureOf(request.signal, report),
      emit: (draft) => {
        emit(draft);
        waitForDelivery(connection);
      },
      hasListeners: events.hasListeners,
      describe: () => describe(apis),
      texts: chooseTexts(request.headers.get("accept-language")),
    };
    try {
      return finish(context, resolved, await dispatch(context, resolved, apis));
    } catch (error) {
      return finish(context, resolved, toErrorResponse(error, context, resolved, apis));
    }
  }

  /** A page that the options leave out is as any URL that nothing stands at. */
  function toServed(resolved: ResolvedUrl): ResolvedUrl {
    return resolved.shape === "api-page" && config.apiPage === undefined ? { ...resolved, shape: "unknown" } : resolved;
  }

  /** What is being told of events outlives the request, on runtimes that end with it. */
  function waitForDelivery(connection: Connection): void {
    if (connection.waitUntil === undefined) return;
    const delivery = events.settled();
    if (delivery !== undefined) connection.waitUntil(delivery);
  }

  async function dispatch(context: RequestContext, { shape }: ResolvedUrl, apis: readonly Api[]): Promise<Response> {
    const { method } = context.request;
    if (shape === "malformed") throw new HttpError("malformed", "The URL is malformed.");
    if (method === "OPTIONS" && shape !== "outside") return emptyResponse(204, { Allow: toAllow(shape, apis) });
    if (!hasRoutes(shape, apis)) throw new HttpError("not-found", "Not found.");
    const route = findRoute(shape, method, apis);
    if (route === "not-implemented") throw new HttpError("method-not-implemented", "The method is not implemented.");
    if (route === "not-allowed") throw new HttpError("method-not-allowed", "The method is not allowed here.");
    const { access, run } = route.endpoint;
    if (access === "open") return run(context);
    const { request, connection } = context;
    const isBySession = access === "session";
    const identification = await (isBySession
      ? identifier.identifySession(request, connection)
      : identifier.identify(request, connection));
    return runForAccount(context, identification, run);
  }

  async function runForAccount(
    context: RequestContext,
    identification: Identification,
    run: AccountEndpoint,
  ): Promise<Response> {
    if (identification.outcome !== "identified") return refuseUnidentified(context, identification);
    const { request } = context;
    const { login, scheme, session, attempt } = identification;
    // All but the session header is sent by browsers unasked, whoever wrote the page (CONTRACT 6.5).
    const isUnasked = scheme !== "session" && !SAFE_METHODS.includes(request.method);
    if (isUnasked && !isSameOrigin(request, config)) {
      if (attempt !== undefined) audit.refused(attempt, "cross-site");
      throw new HttpError("denied", "The request comes from another site.");
    }
    const permits = permitsOf(login.username, context.connection.peer?.address, request);
    const counted: LimitedContext = Object.assign(context, permits);
    // Before anything is read or touched: what is too much has to cost nothing.
    if (isTransfer(context) && !counted.transferPermit.acquire()) {
      const account = accounts.resolve(login.username, login.settings);
      throw refuseTransfer(Object.assign(counted, { account, scheme, files: accounts.filesOf(account) }));
    }
    try {
      // A session's home was made ready at its login.
      const account = attempt ? await admit(login, attempt) : accounts.resolve(login.username, login.settings);
      const files = accounts.filesOf(account);
      const used = session === undefined ? files : keepAlive(files, sessions.toProgress(session));
      const identified: AccountContext = Object.assign(counted, { account, scheme, session, files: used });
      const told = events.hasListeners() ? Object.assign(identified, { files: withEvents(identified) }) : identified;
      const response = await run(told);
      counted.transferPermit.responded();
      counted.pagePermit.responded();
      return response;
    } catch (error) {
      counted.transferPermit.release();
      counted.pagePermit.release();
      throw error;
    }
  }

  function serve(apis: readonly Api[]): FileService["fetch"] {
    return async (request, connection = {}) => {
      try {
        return await handle(request, connection, apis);
      } catch (error) {
        report(error);
        return new Response(null, { status: 500 });
      } finally {
        waitForDelivery(connection);
      }
    };
  }

  return {
    fetch: serve(ALL_APIS),
    rest: serve(["rest"]),
    webdav: serve(["webdav"]),
    browser: serve(["browser"]),
    handles: (request) => resolveUrl(parseTarget(request.url), config.baseSegments) !== undefined,
    start: () => chain.start(),
    endSessions: sessions.endAll,
    events: events.open,
    close: events.close,
  };
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** The variant of a request: negotiated on the shared URL space, given where only one API is mounted. */
function toVariant(request: Request, shape: ResolvedUrl["shape"], apis: readonly Api[]): Variant {
  const [only, ...others] = apis;
  if (only !== undefined && others.length === 0) return toOnlyVariant(only);
  const reads = request.method === "GET" || request.method === "HEAD";
  return negotiateVariant(request, shape === "folder" && reads);
}
