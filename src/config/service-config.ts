import type { Authenticator } from "../contracts/authenticator.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { decodeSegment, isMemberName } from "../http/segment.ts";
import type { FileServiceOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** The options of a service, checked and complete. */
export interface ServiceConfig {
  readonly storage: StorageAdapter;
  readonly authentication: readonly Authenticator[];
  /** Canonical: empty, or `/` and percent-encoded segments without a trailing `/`. */
  readonly basePath: string;
  readonly baseSegments: readonly string[];
  /** The value of the `Server` header. */
  readonly serverHeader: string;
  readonly session: {
    /** Absent: the caller makes one in memory. */
    readonly store: KeyValueStore | undefined;
    readonly idleSeconds: number;
    readonly maxSeconds: number;
    readonly announce: boolean;
  };
  readonly acceptedOrigins: readonly string[];
  readonly logger: Logger;
  readonly clock: () => number;
}

const STORAGE_VERBS = ["stat", "list", "read", "write", "createFolder", "remove"] as const;

/**
 * Checks the options and fills in their defaults.
 * @throws TypeError naming the option that is wrong.
 */
export function toServiceConfig(options: FileServiceOptions): ServiceConfig {
  if (!isObject(options)) throw new TypeError("createFileService needs options.");
  const { storage, authentication, basePath = "", server = {}, session = {}, acceptedOrigins = [] } = options;
  const { logger = console, clock = Date.now } = options;
  check(hasMethods(storage, STORAGE_VERBS), "storage", "a storage adapter");
  const authenticators: readonly Authenticator[] = Array.isArray(authentication)
    ? [...authentication]
    : [authentication];
  const areAuthenticators = authenticators.every((one) => hasMethods(one, ["authenticate"]));
  check(
    areAuthenticators && authenticators.length > 0,
    "authentication",
    "an authenticator, or a list of at least one",
  );

  check(isObject(server), "server", "an object");
  const { name = "fileferry" } = server;
  check(typeof name === "string" && /^[!#$%&'*+.^_`|~\w-]+$/.test(name), "server.name", "an RFC 9110 token");

  check(isObject(session), "session", "an object");
  const { store, idleSeconds = 1800, maxSeconds = 43_200, announce = true } = session;
  check(isPositive(idleSeconds), "session.idleSeconds", "a positive number");
  check(isPositive(maxSeconds), "session.maxSeconds", "a positive number");
  check(typeof announce === "boolean", "session.announce", "a boolean");
  check(store === undefined || hasMethods(store, ["get", "set", "delete"]), "session.store", "a key-value store");

  const areOrigins = Array.isArray(acceptedOrigins) && acceptedOrigins.every(isOrigin);
  check(areOrigins, "acceptedOrigins", "origins such as https://app.example");
  check(hasMethods(logger, ["info", "warn", "error"]), "logger", "a logger with info, warn and error");
  check(typeof clock === "function", "clock", "a function");

  const baseSegments = parseBasePath(basePath);
  return {
    storage,
    authentication: authenticators,
    basePath: baseSegments.map((segment) => `/${encodeURIComponent(segment)}`).join(""),
    baseSegments,
    serverHeader: `${name}/${VERSION}`,
    session: { store, idleSeconds, maxSeconds, announce },
    acceptedOrigins: [...acceptedOrigins],
    logger,
    clock,
  };
}

function parseBasePath(basePath: string): readonly string[] {
  if (basePath === "" || basePath === "/") return [];
  const isText = typeof basePath === "string" && /^\/[^?#]*$/.test(basePath);
  const segments = isText ? basePath.replace(/\/$/, "").split("/").slice(1).map(decodeSegment) : [undefined];
  check(segments.every(isBaseSegment), "basePath", "empty or a path such as /files");
  return segments as readonly string[];
}

function isBaseSegment(segment: string | undefined): boolean {
  return segment !== undefined && isMemberName(segment);
}

function isOrigin(text: unknown): boolean {
  return typeof text === "string" && URL.canParse(text) && new URL(text).origin === text;
}

function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

function check(holds: boolean, option: string, expected: string): void {
  if (!holds) throw new TypeError(`The option ${option} must be ${expected}.`);
}
