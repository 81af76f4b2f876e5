import { access, constants, stat } from "node:fs/promises";
import { type AccountEntry, createAccountsAuthenticator } from "../../auth/accounts/accounts.ts";
import { AccountsError } from "../../auth/accounts/accounts-error.ts";
import type { PasswordHasher } from "../../auth/passwords/hash.ts";
import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import type { IdempotencyOptions } from "../../config/idempotency.ts";
import type { FileServiceOptions } from "../../config/options.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import type { NodeTlsOptions } from "../../runtimes/node/server.ts";
import type { EventSink } from "../../sinks/event-sink.ts";
import { createDiskStorage } from "../../storage/disk.ts";
import type { QuotaOptions } from "../../storage/quota.ts";
import type { TrashOptions } from "../../storage/trash.ts";
import type { VersionsOptions } from "../../storage/versions.ts";
import { createMemoryKeyValueStore } from "../../stores/memory.ts";
import { createFailure, describeSystemError } from "../failure.ts";
import type { LogFormat } from "../log/format.ts";
import type { ShownMetrics } from "../metrics-server.ts";
import type { Reloads } from "../reload.ts";
import type { SharedStoreLocation } from "../shared-store.ts";
import { type ConnectionSettings, toConnectionSettings } from "./connections.ts";

/** A store of the configuration that several processes share. `key` begins its problems. */
export interface NamedStore {
  readonly store: SharedStoreLocation;
  readonly key: string;
}

/** The settings of `serve`, from flags or a configuration file. */
export interface ServeSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly tls?: NodeTlsOptions;
  /** The limits on clients, and the deadline of a graceful stop. */
  readonly connections?: ConnectionSettings;
  readonly service: FileServiceOptions;
  /**
   * Checks the storage before the start: rejects if a remote one does not respond, and warns if a folder is not
   * readable.
   */
  readonly checkStorage?: () => Promise<void>;
  /** Rejects with the reason if the storage cannot be used now. Absent: it always can. */
  readonly probeStorage?: () => Promise<void>;
  /** The store of sessions. `serve` opens the stores before the service and closes them after. */
  readonly sessionStore?: NamedStore;
  /** The store of locks. Default: the store of sessions, if there is one. */
  readonly lockStore?: NamedStore;
  /** The store of links. Default: that of `service.links`, which may have none. */
  readonly linkStore?: NamedStore;
  /** Counts and limits what is stored. Absent: nothing is limited but single files. */
  readonly quota?: QuotaOptions;
  /** The store of the counts. Default: the memory of the process. */
  readonly quotaStore?: NamedStore;
  /** Keeps what is removed. Absent: it is removed for good. */
  readonly trash?: TrashOptions;
  /** Keeps what is replaced. Absent: it is lost. */
  readonly versions?: VersionsOptions;
  /** Keeps the responses to requests with an `Idempotency-Key`. Absent: none is kept. */
  readonly idempotency?: Omit<IdempotencyOptions, "store">;
  /** The store of these responses. Default: the memory of the process. */
  readonly answerStore?: NamedStore;
  /** Whether the files are in the memory of the process, so that no other process sees them. */
  readonly hasOwnStorage?: true;
  /** Whether the links are in the memory of the process, so that no other process knows them. */
  readonly hasOwnLinks?: true;
  /** What the service reads again at SIGHUP. Absent: nothing, and the signal ends it. */
  readonly reloads?: Reloads;
  /** The format of the log. Default: `text`. */
  readonly logFormat?: LogFormat;
  /** The sinks of its events. `serve` closes them after the service. */
  readonly sinks?: readonly EventSink[];
  /** The metrics, and the address at which a server of their own shows them at `/metrics`. */
  readonly metrics?: ShownMetrics;
  /** Called for each request, if requests are counted. */
  readonly onRequest?: (request: MeasuredRequest) => void;
}

/** The default address, which only this machine can reach. */
export const defaultHost = "127.0.0.1";
export const defaultPort = 8080;

/** The flags of `serve <folder> --account name:password`. */
export interface ServeFlags {
  readonly folder: string;
  readonly accounts: readonly string[];
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly logFormat: LogFormat;
  /** Whether accounts may make links. They end with the process. */
  readonly hasLinks: boolean;
}

/**
 * Converts flags to settings: a disk storage of one folder, which is the home of every account. Rejects with a failure
 * of status 2 if the folder is not a folder or an account is wrong; the failure never quotes the account.
 */
export async function toServeSettings(flags: ServeFlags, logger: Logger): Promise<ServeSettings> {
  const { folder, host = defaultHost, port = defaultPort, logFormat, hasLinks } = flags;
  const problem = await findFolderProblem(folder);
  if (problem !== undefined) throw createFailure(2, [`error: ${folder}: ${problem}`]);
  const accounts = flags.accounts.map(parseAccountFlag);
  const passwordHasher = createNodePasswordHasher();
  return {
    host,
    port,
    logFormat,
    connections: toConnectionSettings(),
    ...(hasLinks && { hasOwnLinks: true }),
    service: {
      storage: createDiskStorage({ root: folder }),
      authentication: toAuthenticator(accounts, passwordHasher, logger),
      logger,
      ...(hasLinks && { links: { secret: createSecret(), store: createMemoryKeyValueStore(), passwordHasher } }),
    },
    checkStorage: () => warnOfClosedFolder(folder, logger),
  };
}

/** Why a path cannot be the root of a storage; `undefined` if it can. */
export async function findFolderProblem(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : "is not a folder";
  } catch (error) {
    return describeSystemError(error);
  }
}

/**
 * Warns if the root of a storage is not readable. The server starts anyway: requests are 403 until the folder is
 * readable.
 */
export async function warnOfClosedFolder(path: string, logger: Logger): Promise<void> {
  try {
    await access(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    logger.warn({ root: path, reason: describeSystemError(error) }, "The storage's root folder cannot be read.");
  }
}

/** The name ends at the first colon: a password may contain colons, a name may not. */
function parseAccountFlag(text: string, index: number): AccountEntry {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) {
    throw createFailure(2, [`error: --account (number ${index + 1}): expected name:password`]);
  }
  return { username: text.slice(0, colon), password: text.slice(colon + 1), home_folder_path: "/" };
}

/** A secret for the links of this run. */
function createSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

function toAuthenticator(
  accounts: readonly AccountEntry[],
  passwordHasher: PasswordHasher,
  logger: Logger,
): FileServiceOptions["authentication"] {
  try {
    return createAccountsAuthenticator({ accounts, passwordHasher, logger });
  } catch (error) {
    if (!(error instanceof AccountsError)) throw error;
    const [index, ...members] = error.path;
    const place = [`--account (number ${Number(index) + 1})`, ...members].join(".");
    throw createFailure(2, [`error: ${place}: ${error.reason}`]);
  }
}
