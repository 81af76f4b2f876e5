import type { Groups } from "../account/account.ts";
import type { Authenticator } from "../contracts/authenticator.ts";
import { type ClientCertificate, NIL_UUID } from "../contracts/connection.ts";
import type { OnEvent } from "../contracts/events/file-event.ts";
import type { Identify } from "../contracts/identity.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { ApiPage } from "../contracts/pages/api-page.ts";
import type { PasswordPolicy } from "../contracts/password-policy.ts";
import type { Quota } from "../contracts/quota.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { Trash } from "../contracts/trash.ts";
import type { UploadGuard } from "../contracts/upload.ts";
import { toSafeLogger } from "../events/safe-logger.ts";
import type { SessionCookie } from "../http/cookie.ts";
import type { IpNetwork } from "../http/ip-network.ts";
import type { Cors } from "../http/origins/cors.ts";
import { decodeSegment, isMemberName } from "../http/path-segment.ts";
import { type MetadataRules, parseMetadataFields } from "../uploads/metadata-fields.ts";
import { hasMethods, isCount, isObject, isPositive, isStore } from "./checks.ts";
import { type DigestConfig, toDigests } from "./digests.ts";
import { toGroups } from "./groups.ts";
import { type IdempotencyConfig, toIdempotency } from "./idempotency.ts";
import { type Limits, toLimits } from "./limits.ts";
import { type LinkConfig, toLinks } from "./links.ts";
import { toNetworks } from "./networks.ts";
import { type OffloadConfig, toOffload } from "./offload.ts";
import { checkOptionNames } from "./option-names.ts";
import type { FileServiceOptions } from "./options.ts";
import { toOrigins } from "./origins.ts";
import { type PageConfig, toPageConfig } from "./page-config.ts";
import { checkPasswordPolicy } from "./password-policy.ts";
import { toSessionCookie } from "./session-cookie.ts";
import { type Triggers, toTriggers } from "./trigger-config.ts";
import { toUploadGuards } from "./upload-guards.ts";
import { toUploads, type UploadConfig } from "./uploads.ts";
import { VERSION } from "./version.ts";
import { toWebdav, type WebdavConfig } from "./webdav.ts";

/** The options of a service, checked and complete. */
export interface ServiceConfig {
  readonly storage: StorageAdapter;
  readonly authentication: readonly Authenticator[];
  /** Absent: the host identifies no users. */
  readonly identify: Identify | undefined;
  readonly identifiedBy: "cookie" | "header";
  /** The challenge of the host's function. */
  readonly identityChallenge: string | undefined;
  readonly groups: Groups;
  /** Canonical: empty, or `/` and percent-encoded segments without a trailing `/`. */
  readonly basePath: string;
  readonly baseSegments: readonly string[];
  /** The value of the `Server` header. */
  readonly serverHeader: string;
  readonly server: { readonly uuid: string };
  readonly component: { readonly uuid: string };
  readonly publicError: boolean;
  readonly usernameOfCertificate: (certificate: ClientCertificate) => string | undefined;
  readonly listeners: readonly OnEvent[];
  readonly metadataFields: MetadataRules | undefined;
  /** In the order in which they are asked. */
  readonly beforeCommit: readonly UploadGuard[];
  readonly triggers: Triggers;
  readonly pages: PageConfig;
  /** Absent: the service has no API page. */
  readonly apiPage: ApiPage | undefined;
  readonly session: {
    /** Absent: the caller creates a store in memory. */
    readonly store: KeyValueStore | undefined;
    readonly idleSeconds: number;
    readonly maxSeconds: number;
    /** 0: no limit. */
    readonly maxPerAccount: number;
    readonly announce: boolean;
    readonly cookie: SessionCookie;
  };
  readonly passwordPolicy: PasswordPolicy;
  /** Absent: PROPFIND and the other methods of WebDAV are not implemented. */
  readonly webdav: WebdavConfig | undefined;
  /** Absent: the service has no resumable uploads, because of its options or of its storage. */
  readonly uploads: UploadConfig | undefined;
  /** Absent: the service has no links. */
  readonly links: LinkConfig | undefined;
  /** Absent: responses have no digests. */
  readonly digests: DigestConfig | undefined;
  /** Absent: an `Idempotency-Key` has no effect. */
  readonly idempotency: IdempotencyConfig | undefined;
  /** Absent: 60 for accounts that can tell whether they are current, otherwise 0. */
  readonly basicCacheSeconds: number | undefined;
  /** Absent: clients cannot ask how much is used. */
  readonly quota: Quota | undefined;
  readonly trash: Trash | undefined;
  /** Absent: the service sends all content itself. */
  readonly offload: OffloadConfig | undefined;
  readonly limits: Limits;
  readonly archive: { readonly method: "stored" | "deflate" };
  /** Empty: the peer of the socket is the client. */
  readonly clientForwardedHeader: string;
  /** Absent: the header counts on every connection. */
  readonly trustedProxies: readonly IpNetwork[] | undefined;
  /** Empty: the origin of the request. */
  readonly publicOrigin: string;
  readonly acceptedOrigins: readonly string[];
  /** Absent: no script of another origin can read a response. */
  readonly cors: Cors | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
}

const STORAGE_VERBS = ["stat", "list", "read", "write", "createFolder", "remove"] as const;

/**
 * Checks the options and fills in their defaults.
 * @throws OptionError for a wrong option; TypeError if there are no options.
 */
export function toServiceConfig(options: FileServiceOptions): ServiceConfig {
  if (!isObject(options)) throw new TypeError("createFileService needs options.");
  checkOptionNames(options);
  const { storage, authentication, basePath = "", server = {}, session = {} } = options;
  const { groups = {}, logger = console, clock = Date.now } = options;
  const { passwordPolicy = {}, limits = {}, clientForwardedHeader = "" } = options;
  checkOption(hasMethods(storage, STORAGE_VERBS), "storage", "a storage adapter");
  const authenticators: readonly Authenticator[] = Array.isArray(authentication)
    ? [...authentication]
    : [authentication];
  const areAuthenticators = authenticators.every((one) => hasMethods(one, ["authenticate"]));
  checkOption(
    areAuthenticators && authenticators.length > 0,
    "authentication",
    "an authenticator, or a list of at least one",
  );

  const { identify, identifiedBy = "cookie" } = options;
  checkOption(identify === undefined || typeof identify === "function", "identify", "a function");
  const identityChallenge = identify?.challenge;
  const isChallenge = identityChallenge === undefined || isHeaderText(identityChallenge);
  checkOption(isChallenge, "identify.challenge", "a challenge such as Bearer");
  checkOption(identifiedBy === "cookie" || identifiedBy === "header", "identifiedBy", '"cookie" or "header"');

  checkOption(isObject(server), "server", "an object");
  const { name = "fileferry", uuid: serverUuid = NIL_UUID } = server;
  checkOption(isToken(name), "server.name", "an RFC 9110 token");
  checkOption(isUuid(serverUuid), "server.uuid", "a UUID");
  const { component = {}, publicError = false, onEvent = [], usernameOfCertificate = toCommonName } = options;
  checkOption(isObject(component), "component", "an object");
  const { uuid: componentUuid = NIL_UUID } = component;
  checkOption(isUuid(componentUuid), "component.uuid", "a UUID");
  checkOption(typeof publicError === "boolean", "publicError", "a boolean");
  const listeners: readonly OnEvent[] = Array.isArray(onEvent) ? [...onEvent] : [onEvent];
  checkOption(
    listeners.every((one) => typeof one === "function"),
    "onEvent",
    "a function, or a list of functions",
  );
  checkOption(typeof usernameOfCertificate === "function", "usernameOfCertificate", "a function");

  checkOption(isObject(session), "session", "an object");
  const { store, idleSeconds = 1800, maxSeconds = 43_200, maxPerAccount = 100, announce = true, cookie = {} } = session;
  checkOption(isPositive(idleSeconds), "session.idleSeconds", "a positive number");
  checkOption(isPositive(maxSeconds), "session.maxSeconds", "a positive number");
  const isLimit = maxPerAccount === 0 || isCount(maxPerAccount);
  checkOption(isLimit && maxPerAccount <= 1000, "session.maxPerAccount", "a whole number from 0 to 1000");
  checkOption(typeof announce === "boolean", "session.announce", "a boolean");
  checkOption(isStore(store), "session.store", "a key-value store");

  const metadataFields = options.metadataFields === undefined ? undefined : parseMetadataFields(options.metadataFields);
  const origins = toOrigins(options, metadataFields?.header);
  checkOption(hasMethods(logger, ["info", "warn", "error"]), "logger", "a logger with info, warn and error");
  checkOption(typeof clock === "function", "clock", "a function");

  checkPasswordPolicy(passwordPolicy);
  const { basicCacheSeconds } = options;
  const isCacheTime = basicCacheSeconds === undefined || basicCacheSeconds === 0 || isPositive(basicCacheSeconds);
  checkOption(isCacheTime && (basicCacheSeconds ?? 0) <= 3600, "basicCacheSeconds", "a number from 0 to 3600");
  const { quota, trash } = options;
  checkStorageParts(options);
  const checkedLimits = toLimits(limits);
  const beforeCommit = toUploadGuards(options.beforeCommit);
  const { archive = {}, apiPage } = options;
  checkOption(apiPage === undefined || hasMethods(apiPage, ["load"]), "apiPage", "what createApiPage makes");
  checkOption(isObject(archive), "archive", "an object");
  const { method = "stored" } = archive;
  checkOption(method === "stored" || method === "deflate", "archive.method", '"stored" or "deflate"');
  const isHeader = clientForwardedHeader === "" || isToken(clientForwardedHeader);
  checkOption(isHeader, "clientForwardedHeader", "empty or a header's name such as X-Forwarded-For");
  const { trustedProxies: proxies } = options;
  const trustedProxies = proxies === undefined ? undefined : toNetworks(proxies, "trustedProxies");
  const isUsed = trustedProxies === undefined || clientForwardedHeader !== "";
  checkOption(isUsed, "trustedProxies", "given together with clientForwardedHeader");

  const baseSegments = parseBasePath(basePath);
  const encodedBase = baseSegments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  return {
    storage,
    authentication: authenticators,
    identify,
    identifiedBy,
    identityChallenge,
    groups: toGroups(groups),
    basePath: encodedBase,
    baseSegments,
    serverHeader: `${name}/${VERSION}`,
    server: { uuid: serverUuid },
    component: { uuid: componentUuid },
    publicError,
    usernameOfCertificate,
    listeners,
    metadataFields,
    beforeCommit,
    triggers: toTriggers(options),
    pages: toPageConfig(options),
    apiPage,
    session: { store, idleSeconds, maxSeconds, maxPerAccount, announce, cookie: toSessionCookie(cookie, encodedBase) },
    passwordPolicy: { ...passwordPolicy, requireClasses: [...(passwordPolicy.requireClasses ?? [])] },
    webdav: toWebdav(options.webdav),
    uploads: toUploads(options.uploads, storage, beforeCommit),
    links: toLinks(options.links),
    digests: toDigests(options.digests),
    idempotency: toIdempotency(options.idempotency),
    basicCacheSeconds,
    quota,
    trash,
    offload: toOffload(options.offload),
    limits: checkedLimits,
    archive: { method },
    clientForwardedHeader,
    trustedProxies,
    ...origins,
    logger: toSafeLogger(logger),
    clock,
  };
}

/** Checks what wrappers of the storage offer in addition to its methods. */
function checkStorageParts({ quota, trash }: FileServiceOptions): void {
  const isQuota = quota === undefined || hasMethods(quota, ["usage", "recount", "sweep"]);
  checkOption(isQuota, "quota", "the quota of createQuotaStorage");
  const methods = ["list", "find", "members", "restore", "purge", "sweep", "watch"];
  checkOption(trash === undefined || hasMethods(trash, methods), "trash", "the trash of createTrashStorage");
}

function parseBasePath(basePath: string): readonly string[] {
  if (basePath === "" || basePath === "/") return [];
  const isText = typeof basePath === "string" && /^\/[^?#]*$/.test(basePath);
  const segments = isText ? basePath.replace(/\/$/, "").split("/").slice(1).map(decodeSegment) : [undefined];
  checkOption(segments.every(isBaseSegment), "basePath", "empty or a path such as /files");
  return segments as readonly string[];
}

function isBaseSegment(segment: string | undefined): boolean {
  return segment !== undefined && isMemberName(segment);
}

function isToken(text: unknown): text is string {
  return typeof text === "string" && /^[!#$%&'*+.^_`|~\w-]+$/.test(text);
}

/** Whether a text begins with a token and is printable ASCII, as the value of a header must be. */
function isHeaderText(text: unknown): boolean {
  return typeof text === "string" && /^[!#$%&'*+.^_`|~\w-]+(?: [ -~]*)?$/.test(text);
}

function isUuid(text: unknown): boolean {
  return typeof text === "string" && /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text);
}

function toCommonName({ commonName }: ClientCertificate): string | undefined {
  return commonName;
}
