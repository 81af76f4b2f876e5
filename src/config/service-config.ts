import type { Groups } from "../account/account.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { ClientCertificate } from "../contracts/connection.ts";
import type { OnEvent } from "../contracts/events/file-event.ts";
import type { RetentionRule } from "../contracts/kept/retention.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import type { Logger } from "../contracts/logger.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { ApiPage } from "../contracts/pages/api-page.ts";
import type { PasswordPolicy } from "../contracts/password-policy.ts";
import type { Quota } from "../contracts/quota.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { UploadGuard } from "../contracts/upload.ts";
import { toSafeLogger } from "../events/safe-logger.ts";
import type { Cors } from "../http/origins/cors.ts";
import { decodeSegment, isMemberName } from "../http/path-segment.ts";
import { type MetadataRules, parseMetadataFields } from "../uploads/metadata-fields.ts";
import { toAnonymous } from "./anonymous.ts";
import { type AuthenticationConfig, toAuthenticationConfig } from "./authentication-config.ts";
import { hasMethods, isObject, isPositive } from "./checks.ts";
import { type DigestConfig, toDigests } from "./digests.ts";
import { toGroups } from "./groups.ts";
import { type IdempotencyConfig, toIdempotency } from "./idempotency.ts";
import { type Limits, toLimits } from "./limits.ts";
import { type LinkConfig, toLinks } from "./links.ts";
import { type OffloadConfig, toOffload } from "./offload.ts";
import { checkOptionNames } from "./option-names.ts";
import type { FileServiceOptions } from "./options.ts";
import { toOrigins } from "./origins.ts";
import { type PageConfig, toPageConfig } from "./page-config.ts";
import { checkPasswordPolicy } from "./password-policy.ts";
import { type ProxyConfig, toProxyConfig } from "./proxy-config.ts";
import { toRetention } from "./retention.ts";
import { type ServiceNames, toServiceNames } from "./service-names.ts";
import { type SessionConfig, toSessionConfig } from "./session-config.ts";
import { toCookies } from "./session-cookie.ts";
import { type Triggers, toTriggers } from "./trigger-config.ts";
import { toUploadGuards } from "./upload-guards.ts";
import { toUploads, type UploadConfig } from "./uploads.ts";
import { toWebdav, type WebdavConfig } from "./webdav.ts";

/** The options of a service, checked and complete. */
export interface ServiceConfig extends AuthenticationConfig, ServiceNames, ProxyConfig {
  readonly storage: StorageAdapter;
  /** Complete. Absent: each request needs a login. */
  readonly anonymous: AccountSettings | undefined;
  readonly groups: Groups;
  /** Canonical: empty, or `/` and percent-encoded segments without a trailing `/`. */
  readonly basePath: string;
  readonly baseSegments: readonly string[];
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
  readonly session: SessionConfig;
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
  /** Absent: 60 for accounts of a method that knows whether they are current, otherwise 0. */
  readonly basicCacheSeconds: number | undefined;
  /** Absent: clients cannot ask how much is used. */
  readonly quota: Quota | undefined;
  readonly trash: Trash | undefined;
  readonly retention: readonly RetentionRule[];
  readonly versions: Versions | undefined;
  /** Absent: the service sends all content itself. */
  readonly offload: OffloadConfig | undefined;
  readonly limits: Limits;
  readonly archive: { readonly method: "stored" | "deflate" };
  /** Empty: the origin of the request. */
  readonly publicOrigin: string;
  readonly acceptedOrigins: readonly string[];
  /** Absent: no script of another origin can read a response. */
  readonly cors: Cors | undefined;
  readonly logger: Logger;
  readonly clock: () => number;
}

const STORAGE_VERBS = ["stat", "list", "read", "write", "createFolder", "remove", "copy", "move"] as const;

/**
 * Checks the options and fills in their defaults.
 * @throws OptionError for a wrong option; TypeError if there are no options.
 */
export function toServiceConfig(options: FileServiceOptions): ServiceConfig {
  if (!isObject(options)) throw new TypeError("createFileService needs options.");
  checkOptionNames(options);
  const { storage, basePath = "", groups = {}, logger = console, clock = Date.now } = options;
  const { passwordPolicy = {}, limits = {} } = options;
  checkOption(hasMethods(storage, STORAGE_VERBS), "storage", "a storage adapter");
  const authentication = toAuthenticationConfig(options);
  const names = toServiceNames(options);
  const { publicError = false, onEvent = [], usernameOfCertificate = toCommonName } = options;
  checkOption(typeof publicError === "boolean", "publicError", "a boolean");
  const listeners: readonly OnEvent[] = Array.isArray(onEvent) ? [...onEvent] : [onEvent];
  checkOption(
    listeners.every((one) => typeof one === "function"),
    "onEvent",
    "a function, or a list of functions",
  );
  checkOption(typeof usernameOfCertificate === "function", "usernameOfCertificate", "a function");

  const session = toSessionConfig(options);
  const { cookie = {} } = options.session ?? {};
  const metadataFields = options.metadataFields === undefined ? undefined : parseMetadataFields(options.metadataFields);
  const origins = toOrigins(options, metadataFields?.header);
  checkOption(hasMethods(logger, ["info", "warn", "error"]), "logger", "a logger with info, warn and error");
  checkOption(typeof clock === "function", "clock", "a function");

  checkPasswordPolicy(passwordPolicy);
  const { basicCacheSeconds } = options;
  const isCacheTime = basicCacheSeconds === undefined || basicCacheSeconds === 0 || isPositive(basicCacheSeconds);
  checkOption(isCacheTime && (basicCacheSeconds ?? 0) <= 3600, "basicCacheSeconds", "a number from 0 to 3600");
  const { quota, trash, versions } = options;
  checkStorageParts(options);
  const checkedLimits = toLimits(limits);
  const beforeCommit = toUploadGuards(options.beforeCommit);
  const { archive = {}, apiPage } = options;
  checkOption(apiPage === undefined || hasMethods(apiPage, ["load"]), "apiPage", "what createApiPage makes");
  checkOption(isObject(archive), "archive", "an object");
  const { method = "stored" } = archive;
  checkOption(method === "stored" || method === "deflate", "archive.method", '"stored" or "deflate"');
  const proxies = toProxyConfig(options);
  const checkedGroups = toGroups(groups);
  const baseSegments = parseBasePath(basePath);
  const encodedBase = baseSegments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  return {
    storage,
    ...authentication,
    groups: checkedGroups,
    anonymous: toAnonymous(options.anonymous, checkedGroups),
    basePath: encodedBase,
    baseSegments,
    ...names,
    publicError,
    usernameOfCertificate,
    listeners,
    metadataFields,
    beforeCommit,
    triggers: toTriggers(options),
    pages: toPageConfig(options),
    apiPage,
    session: { ...session, ...toCookies(cookie, encodedBase) },
    passwordPolicy: { ...passwordPolicy, requireClasses: [...(passwordPolicy.requireClasses ?? [])] },
    webdav: toWebdav(options.webdav),
    uploads: toUploads(options.uploads, storage, beforeCommit),
    links: toLinks(options.links),
    digests: toDigests(options.digests),
    idempotency: toIdempotency(options.idempotency),
    basicCacheSeconds,
    quota,
    trash,
    retention: toRetention(options.retention),
    versions,
    offload: toOffload(options.offload),
    limits: checkedLimits,
    archive: { method },
    ...proxies,
    ...origins,
    logger: toSafeLogger(logger),
    clock,
  };
}

/** Checks what wrappers of the storage offer in addition to its methods. */
function checkStorageParts({ quota, trash, versions }: FileServiceOptions): void {
  const isQuota = quota === undefined || hasMethods(quota, ["usage", "recount", "sweep"]);
  checkOption(isQuota, "quota", "the quota of createQuotaStorage");
  const ofTrash = ["list", "find", "members", "restore", "purge", "sweep", "watch"];
  checkOption(trash === undefined || hasMethods(trash, ofTrash), "trash", "the trash of createTrashStorage");
  const ofVersions = ["list", "find", "read", "restore", "purge", "sweep"];
  const areVersions = versions === undefined || hasMethods(versions, ofVersions);
  checkOption(areVersions, "versions", "the versions of createVersionsStorage");
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

function toCommonName({ commonName }: ClientCertificate): string | undefined {
  return commonName;
}
