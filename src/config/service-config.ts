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

/**
 * Checks the options and fills in their defaults.
 * @throws TypeError naming the option that is wrong.
 */
export function toServiceConfig(options: FileServiceOptions): ServiceConfig {
  const { storage, authentication, basePath = "", server = {}, session = {}, acceptedOrigins = [] } = options;
  const { logger = console, clock = Date.now } = options;
  const { idleSeconds = 1800, maxSeconds = 43_200, announce = true } = session;
  const { name = "fileferry" } = server;

  const storageVerbs = ["stat", "list", "read", "write", "createFolder", "remove"] as const;
  check(hasMethods(storage, storageVerbs), "storage", "a storage adapter");
  const authenticators = "authenticate" in authentication ? [authentication] : [...authentication];
  check(authenticators.length > 0, "authentication", "at least one authenticator");
  check(
    authenticators.every((one) => hasMethods(one, ["authenticate"])),
    "authentication",
    "authenticators only",
  );
  check(/^[!#$%&'*+.^_`|~\w-]+$/.test(name), "server.name", "an RFC 9110 token");
  check(isPositive(idleSeconds), "session.idleSeconds", "a positive number");
  check(isPositive(maxSeconds), "session.maxSeconds", "a positive number");
  check(typeof announce === "boolean", "session.announce", "a boolean");
  check(
    session.store === undefined || hasMethods(session.store, ["get", "set", "delete"]),
    "session.store",
    "a key-value store",
  );
  check(acceptedOrigins.every(isOrigin), "acceptedOrigins", "origins such as https://app.example");
  check(hasMethods(logger, ["info", "warn", "error"]), "logger", "a logger with info, warn and error");
  check(typeof clock === "function", "clock", "a function");

  const baseSegments = parseBasePath(basePath);
  return {
    storage,
    authentication: authenticators,
    basePath: baseSegments.map((segment) => `/${encodeURIComponent(segment)}`).join(""),
    baseSegments,
    serverHeader: `${name}/${VERSION}`,
    session: { store: session.store, idleSeconds, maxSeconds, announce },
    acceptedOrigins: [...acceptedOrigins],
    logger,
    clock,
  };
}

function parseBasePath(basePath: string): readonly string[] {
  if (basePath === "" || basePath === "/") return [];
  const segments = basePath.replace(/\/$/, "").split("/").slice(1).map(decodeSegment);
  const isPath =
    basePath.startsWith("/") && segments.every((segment) => segment !== undefined && isMemberName(segment));
  check(isPath, "basePath", "empty or a path such as /files");
  return segments as readonly string[];
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function isPositive(value: number): boolean {
  return typeof value === "number" && value > 0;
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

function check(holds: boolean, option: string, expected: string): void {
  if (!holds) throw new TypeError(`The option ${option} must be ${expected}.`);
}
