import type { FileServiceOptions } from "../config/options.ts";
import { toServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Api, FileService } from "../contracts/file-service.ts";
import { createServiceEvents } from "../events/service-events.ts";
import { isGetOrHead, isWebdavMethod } from "../http/methods.ts";
import { isByScript, negotiateVariant, type Variant } from "../http/negotiate.ts";
import type { Reply } from "../http/reply.ts";
import { createHandler } from "../http/reply-handler.ts";
import { parseTarget, type Target } from "../http/request-target.ts";
import { createRequestPermits } from "../limits/permits.ts";
import { createUploadAllowances } from "../limits/upload-allowance.ts";
import { createWalkQueue } from "../limits/walk-queue.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { runSweeps } from "../platform/run-sweeps.ts";
import { withForwardedPeer } from "../request/client-address.ts";
import type { RequestContext } from "../request/context.ts";
import { createFailureOf } from "../request/errors.ts";
import type { Offload } from "../request/offload.ts";
import { waitUntil } from "../request/wait-until.ts";
import { createTexts } from "../views/texts.ts";
import { createAnonymous } from "./anonymous.ts";
import { createAnswers } from "./answers.ts";
import { createDigestService } from "./digests.ts";
import { createDispatch } from "./dispatch.ts";
import { toApis, variantsOf } from "./find-route.ts";
import { createResponseFinisher } from "./finish-response.ts";
import { createHostSessions } from "./host-sessions.ts";
import { createHostLinks, createLinkService } from "./links.ts";
import { createServiceLogins } from "./logins.ts";
import { createOffload } from "./offload.ts";
import { createOpenApi } from "./openapi.ts";
import { type Additions, type ResolvedUrl, resolveUrl } from "./resolve-url.ts";
import type { Served } from "./routes.ts";
import { createStorageAccounts, toCheckedSettings, toLinkId, toLocks } from "./storage-accounts.ts";
import { createSweeper } from "./sweep.ts";
import { createKeptSweeps } from "./sweep-kept.ts";

const NOWHERE: ResolvedUrl = { kind: "outside", path: { segments: [], isFolder: true } };

/**
 * Makes a file transfer service: pure handlers from `Request` to `Response`, over a storage and authenticators.
 * @throws TypeError naming the option that is wrong.
 */
export function createFileService(options: FileServiceOptions): FileService {
  const config = toServiceConfig(options);
  const { logger, clock, server } = config;
  const events = createServiceEvents(config.listeners, { server, clock, logger });
  const { emit } = events;
  const chooseTexts = createTexts(config.pages.languages);
  const locks = toLocks(config.webdav, clock, async (holder) => {
    const id = toLinkId(holder);
    return id === undefined || (await links?.access.hasLocks(id)) === true;
  });
  const accounts = createStorageAccounts(config.storage, config.groups, config.limits.maxFileBytes, {
    locks,
    trash: config.trash,
    versions: config.versions,
  });
  const logins = createServiceLogins(config, { accounts, emit });
  const { chain, throttle } = logins;
  const links = createLinkService({ config, chain, throttle, resolve: accounts.resolve });
  const sweeper = createSweeper({ config, uploads: accounts.uploads, links, emit, report, waitFor });
  const uploadService = config.uploads && {
    times: config.uploads,
    canJoin: config.storage.uploads?.join !== undefined,
    withLock: createRequestMutex(),
    allowances: createUploadAllowances(clock),
    sweepSoon: sweeper.sweepSoon,
  };
  const offloading = createOffload(config);
  const [walks, listingWalks] = [createWalkQueue(), createWalkQueue()];
  const digests = createDigestService(config, report);
  const answers = createAnswers(config, report);
  const openApiOf = createOpenApi(config);
  const additions: Additions = {
    keys: chain.apiKeys !== undefined,
    "sign-on": config.signOns.size > 0,
    links: config.links !== undefined,
    quota: config.quota !== undefined,
    trash: config.trash !== undefined,
    versions: config.versions !== undefined,
  };
  const finisher = createResponseFinisher(config);
  const permitsOf = createRequestPermits(config);
  const { anonymous: settings } = config;
  const dispatch = createDispatch({
    finisher,
    accounts,
    permitsOf,
    anonymous: settings && createAnonymous({ settings, accounts, permitsOf }),
    watchLogin: logins.watchLogin,
    isLiveKey: logins.isLiveKey,
  });

  const endTrashEvents = config.trash?.watch(({ entry, reason }) => {
    const { id, path } = entry;
    const envelope = { component: { uuid: config.component.uuid, type: "service" } } as const;
    emit({ id: 49112, data: { path, real_path: path, trash: id, reason }, ...envelope });
  });

  const endVersionsReports = config.versions?.watch(({ path, error }) => {
    logger.error({ error, path }, "Old versions were not removed.");
  });

  const keptSweeps = createKeptSweeps(config, locks);

  function report(error: unknown, id?: string): void {
    logger.error(id === undefined ? { error } : { error, id }, "A request failed.");
  }

  /** Handles every request, from its URL to its response. */
  async function handle(request: Request, connection: Connection, served: readonly Served[]): Promise<Reply> {
    const target = parseTarget(request.url);
    const offload = offloading?.forConnection(connection);
    const url = hideMissing(resolveUrl(target, config.baseSegments, additions) ?? NOWHERE, offload);
    return dispatch(toContext(request, connection, target, url, served, offload), url, served);
  }

  function toContext(
    request: Request,
    connection: Connection,
    target: Target,
    { kind, path }: ResolvedUrl,
    served: readonly Served[],
    offload: Offload | undefined,
  ): RequestContext {
    return {
      request,
      method: request.method,
      connection: withForwardedPeer(connection, request, config),
      target,
      root: `${config.basePath}/home/`,
      variant: toVariant(request, kind, served),
      path,
      config,
      identifier: logins.identifier,
      sessions: logins.sessions,
      passwords: logins.passwords,
      signOns: logins.signOns,
      audit: logins.audit,
      admit: logins.admit,
      report,
      failureOf: createFailureOf(request, report),
      emit: (draft) => {
        emit(draft);
        waitForDelivery(connection);
      },
      hasListeners: events.hasListeners,
      walks,
      listingWalks,
      openApi: () => openApiOf(served),
      texts: chooseTexts(request.headers.get("accept-language")),
      uploads: served.includes("uploads") ? uploadService : undefined,
      links,
      keys: chain.apiKeys,
      offload,
      digests,
      answers,
    };
  }

  /** Without an API page, and for a client that may report nothing, the URL is like any unknown one. */
  function hideMissing(resolved: ResolvedUrl, offload: Offload | undefined): ResolvedUrl {
    const { kind } = resolved;
    const isMissing =
      (kind === "api-page" && config.apiPage === undefined) || (kind === "offload" && offload?.reports === undefined);
    return isMissing ? { ...resolved, kind: "unknown" } : resolved;
  }

  /** Workers stop at the end of a request: keep them alive until events are delivered. */
  function waitForDelivery(connection: Connection): void {
    if (connection.waitUntil === undefined) return;
    const delivery = events.settled();
    if (delivery !== undefined) waitFor(connection, delivery);
  }

  function waitFor(connection: Connection, work: Promise<void>): void {
    waitUntil({ connection, report }, work);
  }

  function serve(...apis: readonly Api[]): FileService["fetch"] {
    const hasUploads = uploadService !== undefined && (apis.includes("rest") || apis.includes("webdav"));
    const added = {
      ...additions,
      "webdav-methods": config.webdav !== undefined && apis.includes("webdav"),
      uploads: hasUploads,
      "sign-on": additions["sign-on"] && apis.includes("browser"),
      offload: offloading !== undefined,
    };
    const names = Object.keys(added) as (keyof typeof added)[];
    const served: readonly Served[] = [...apis, ...names.filter((name) => added[name])];
    return createHandler(async (request, connection) => {
      events.countRequest(1);
      try {
        return await handle(request, connection, served);
      } catch (error) {
        report(error);
        return { status: 500, headers: [["Error-Code", "internal"]] };
      } finally {
        events.countRequest(-1);
        waitForDelivery(connection);
      }
    });
  }

  return {
    fetch: serve("rest", "webdav", "browser"),
    rest: serve("rest"),
    webdav: serve("webdav"),
    browser: serve("browser"),
    handles: (request) => resolveUrl(parseTarget(request.url), config.baseSegments, additions) !== undefined,
    start: () => chain.start(),
    endSessions: logins.sessions.endAll,
    sessions: createHostSessions({ ...logins, check: toCheckedSettings, config }),
    links: createHostLinks({ links, accounts, config, emit, report }),
    events: events.open,
    sweep: ({ signal } = {}) =>
      runSweeps(
        [sweeper.sweep, async () => config.quota?.sweep({ signal }), ...keptSweeps, async () => offloading?.expire()],
        signal,
      ),
    close() {
      endTrashEvents?.();
      endVersionsReports?.();
      return events.close();
    },
  };
}

/**
 * The variant of a request: negotiated if several APIs share the URL space, otherwise that of the only API. Pages alone
 * answer scripts in JSON if these prefer it: `fetch` follows a redirect to the login page, and takes that for success.
 */
function toVariant(request: Request, kind: ResolvedUrl["kind"], served: readonly Served[]): Variant {
  if (served.includes("webdav-methods") && isWebdavMethod(request.method)) return "webdav";
  const [only, ...others] = toApis(served);
  const [first, ...more] = only === undefined || others.length > 0 ? [] : variantsOf(only);
  if (first !== undefined && !(more.length > 0 && isByScript(request))) return first;
  const negotiated = negotiateVariant(request, kind === "folder" && isGetOrHead(request.method));
  return first === undefined || more.includes(negotiated) ? negotiated : first;
}
