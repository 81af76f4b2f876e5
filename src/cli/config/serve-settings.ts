import { access, constants, stat } from "node:fs/promises";
import { type AccountEntry, AccountsError, createAccountsAuthenticator } from "../../auth/accounts/accounts.ts";
import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import type { FileServiceOptions } from "../../config/options.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import type { NodeTlsOptions } from "../../runtimes/node/server.ts";
import type { EventSink } from "../../sinks/event-sink.ts";
import { createDiskStorage } from "../../storage/disk.ts";
import { createFailure, describeSystemError } from "../failure.ts";
import type { LogFormat } from "../log/access-log.ts";
import type { ShownMetrics } from "../metrics-server.ts";
import type { SessionStoreLocation } from "../session-store.ts";
import type { ConnectionSettings } from "./connections.ts";

/** All that `serve` needs, whether flags or a file said so. */
export interface ServeSettings {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly tls?: NodeTlsOptions;
  /** What its server takes of clients, and how long it goes on at its end. */
  readonly connections?: ConnectionSettings;
  readonly service: FileServiceOptions;
  /** Tells before the start whether the storage can be used: rejects where a remote one does not answer, and warns of a folder that is closed. */
  readonly checkStorage?: () => Promise<void>;
  /** Where the sessions are, when several processes share them; opened with the service, and closed behind it. `place` begins what is said of it. */
  readonly sessionStore?: { readonly store: SessionStoreLocation; readonly place: string };
  /** Whether the files are in the memory of the process, where no other sees them. */
  readonly hasOwnStorage?: true;
  /** How the log is written. Default: `text`. */
  readonly logFormat?: LogFormat;
  /** Where its events go; closed behind it. */
  readonly sinks?: readonly EventSink[];
  /** Where its metrics are shown, by a server of their own: at `/metrics`. */
  readonly metrics?: ShownMetrics;
  /** Who is told of requests, where they are counted. */
  readonly onAnswer?: (responded: MeasuredRequest) => void;
}

/** Where the server listens unless told otherwise: seen by this machine alone. */
export const defaultHost = "127.0.0.1";
export const defaultPort = 8080;

/** `serve <folder> --account name:password`, as it was typed. */
export interface ServeFlags {
  readonly folder: string;
  readonly accounts: readonly string[];
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly logFormat: LogFormat;
}

/**
 * The settings that the flags make: a disk storage of one folder, which is the home of every account.
 * Rejects with a failure of status 2 for a folder that is none and for a wrong account, never quoting it.
 */
export async function toServeSettings(flags: ServeFlags, logger: Logger): Promise<ServeSettings> {
  const { folder, host = defaultHost, port = defaultPort, logFormat } = flags;
  const problem = await findFolderProblem(folder);
  if (problem !== undefined) throw createFailure(2, [`error: ${folder}: ${problem}`]);
  const accounts = flags.accounts.map(parseAccountFlag);
  return {
    host,
    port,
    logFormat,
    service: {
      storage: createDiskStorage({ root: folder }),
      authentication: toAuthenticator(accounts, logger),
      logger,
    },
    checkStorage: () => warnOfClosedFolder(folder, logger),
  };
}

/** Why a path cannot be a storage's root; `undefined` when it can. */
export async function findFolderProblem(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : "is not a folder";
  } catch (error) {
    return describeSystemError(error);
  }
}

/** Says that a storage's root may not be read. It is served all the same: every request is 403 until it may. */
export async function warnOfClosedFolder(path: string, logger: Logger): Promise<void> {
  try {
    await access(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    logger.warn({ root: path, reason: describeSystemError(error) }, "The storage's root folder cannot be read.");
  }
}

/** The name ends at the first colon: a password may hold more of them, a name none. */
function parseAccountFlag(text: string, index: number): AccountEntry {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) {
    throw createFailure(2, [`error: --account (number ${index + 1}): expected name:password`]);
  }
  return { username: text.slice(0, colon), password: text.slice(colon + 1), home_folder_path: "/" };
}

function toAuthenticator(accounts: readonly AccountEntry[], logger: Logger): FileServiceOptions["authentication"] {
  try {
    return createAccountsAuthenticator({ accounts, passwordHasher: createNodePasswordHasher(), logger });
  } catch (error) {
    if (!(error instanceof AccountsError)) throw error;
    const [index, ...members] = error.path;
    const place = [`--account (number ${Number(index) + 1})`, ...members].join(".");
    throw createFailure(2, [`error: ${place}: ${error.reason}`]);
  }
}
