import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { Trigger } from "../../contracts/trigger.ts";
import { createClamdGuard } from "../../uploads/clamd-guard-node.ts";
import type { LogFormat } from "../log/format.ts";
import { describeTlsFiles } from "../reload.ts";
import { parseSharedStore, type SharedStoreLocation } from "../shared-store.ts";
import type { WorkerChannel } from "../workers/worker.ts";
import { findWriteProblem } from "../write-problem.ts";
import { toMethods } from "./authenticators.ts";
import { toConnectionSettings } from "./connections.ts";
import { parseAnswerStore } from "./content-keys.ts";
import { addProblem, type ConfigContext, toConfigFailure } from "./context.ts";
import { toListeners } from "./events.ts";
import { parseLinkStore, toLinkOptions } from "./links.ts";
import { findOffloadProblem, toOffloadOptions } from "./offload.ts";
import { parseQuotaStore, toQuotaOptions, warnOfUnusedQuotas } from "./quota.ts";
import { checkConfig, readConfig, toResolver } from "./read/config-file.ts";
import { toReloads } from "./reloads.ts";
import { type ConfigFile, toGroupSettings } from "./schema.ts";
import { defaultHost, defaultPort, type NamedStore, type ServeSettings } from "./serve-settings.ts";
import { toServiceOptions } from "./service-options.ts";
import { checkStorageFolder, openStorage } from "./storage/storage.ts";
import { readTlsFiles } from "./tls.ts";
import { warnOfMissingFolders } from "./virtual-folders.ts";

/** Options of {@link readConfigFile}. */
export interface ReadOptions {
  /** Overrides the format in the file. */
  readonly logFormat?: LogFormat | undefined;
  /** The channel to the primary process, in a worker. */
  readonly worker?: WorkerChannel | undefined;
  /** Changes the checked configuration before it is used. Default: it is used as it is. */
  readonly adjust?: (config: ConfigFile) => ConfigFile;
}

/**
 * Reads a configuration file (CONTRACT 10) and returns what `serve` needs. A worker gets the configuration from the
 * primary process instead, which has checked it. Rejects with a failure of status 2 that holds all problems, each on a
 * line such as `fileferry.json: storage.root: does not exist`.
 */
export async function readConfigFile(
  file: string,
  createLogger: (format: LogFormat, file?: string) => Logger,
  { logFormat: flaggedFormat, worker, adjust = (config) => config }: ReadOptions = {},
): Promise<ServeSettings> {
  const config = adjust(worker === undefined ? await readConfig(file) : checkConfig(file, await worker.readConfig()));
  const logFormat = flaggedFormat ?? config.log?.format ?? "text";
  return toSettings(config, {
    file,
    logFormat,
    worker,
    isShared: worker !== undefined || config.session?.store !== undefined,
    logger: createLogger(logFormat, config.log?.file && toResolver(file)(config.log.file)),
    passwordHasher: createNodePasswordHasher(),
    problems: [],
    accountReloads: new Map(),
    toPath: toResolver(file),
  });
}

/** What wraps the storage. */
function toWrappers({ quota, trash, versions }: ConfigFile): Pick<ServeSettings, "quota" | "trash" | "versions"> {
  return {
    ...(quota !== undefined && { quota: toQuotaOptions(quota) }),
    ...(trash !== undefined && { trash }),
    ...(versions !== undefined && { versions }),
  };
}

async function toSettings(config: ConfigFile, context: ConfigContext): Promise<ServeSettings> {
  const { listen = {}, storage = { type: "disk", root: "./files" } } = config;
  const groups = toGroupSettings(config.groups);
  const tlsFiles = Object.values(listen.tls ?? {}).map(context.toPath);
  // Before they are read: a certificate that is replaced during the start is then noticed.
  const tlsVersion = await describeTlsFiles(tlsFiles);
  const tls = listen.tls === undefined ? undefined : await readTlsFiles(listen.tls, context);
  await checkStorageFolder(storage, context);
  await checkEventsFile(config, context);
  const misfit = config.offload && findOffloadProblem(config.offload, storage.type);
  if (misfit !== undefined) addProblem(context, "offload.type", misfit);
  if (context.problems.length > 0) throw toConfigFailure(context);
  const made = await openStorage(storage, context);
  const { offload } = config;
  const links = config.links && toLinkOptions(config.links, context);
  if (context.problems.length > 0) throw toConfigFailure(context);
  if (config.quota === undefined) warnOfUnusedQuotas(config, context.logger);
  const { listeners, ...outputs } = toListeners(config, context);
  return {
    host: listen.host ?? defaultHost,
    port: listen.port ?? defaultPort,
    connections: toConnectionSettings(config.connections, config),
    ...outputs,
    ...toStores(config, context),
    ...(storage.type === "memory" && { hasOwnStorage: true }),
    ...(links?.store !== undefined && { hasOwnLinks: true }),
    ...toWrappers(config),
    ...(config.idempotency !== undefined && { idempotency: withoutStore(config.idempotency) }),
    logFormat: context.logFormat,
    reloads: toReloads(config, context, { tlsFiles, tlsVersion }),
    ...(tls === undefined ? undefined : { tls }),
    ...(made.probeStorage !== undefined && { probeStorage: made.probeStorage }),
    ...(storage.type !== "memory" && {
      async checkStorage() {
        await made.checkStorage?.();
        await warnOfMissingFolders(config.authentication, groups, made.storage, context);
      },
    }),
    service: {
      storage: made.storage,
      authentication: toMethods(config, groups, context, listeners),
      logger: context.logger,
      onEvent: listeners,
      ...toServiceOptions(config),
      ...(links !== undefined && { links }),
      ...(offload !== undefined && { offload: toOffloadOptions(offload, made.storage) }),
      ...(config.scan !== undefined && { beforeCommit: createClamdGuard(config.scan) }),
      ...(config.triggers !== undefined && { triggers: toLoggedTriggers(config.triggers, context.logger) }),
    },
  };
}

/** The stores that several processes share, if the configuration has any. */
function toStores(
  { session, webdav, links, quota, idempotency }: ConfigFile,
  { file, toPath }: ConfigContext,
): Pick<ServeSettings, "sessionStore" | "lockStore" | "linkStore" | "quotaStore" | "answerStore"> {
  function toStore(text: string, option: string): NamedStore {
    return resolveStore(parseSharedStore(text, option), option);
  }

  function resolveStore(store: SharedStoreLocation, option: string): NamedStore {
    const key = `${file}: ${option}`;
    return { key, store: store.kind === "sqlite" ? { ...store, file: toPath(store.file) } : store };
  }

  const linkStore = links?.store === undefined ? undefined : parseLinkStore(links.store);
  const quotaStore = quota?.store === undefined ? undefined : parseQuotaStore(quota.store);
  const answerStore = idempotency?.store === undefined ? undefined : parseAnswerStore(idempotency.store);

  return {
    ...(session?.store !== undefined && { sessionStore: toStore(session.store, "session.store") }),
    ...(webdav?.lockStore !== undefined && { lockStore: toStore(webdav.lockStore, "webdav.lockStore") }),
    ...(linkStore !== undefined && { linkStore: resolveStore(linkStore, "links.store") }),
    ...(quotaStore !== undefined && { quotaStore: resolveStore(quotaStore, "quota.store") }),
    ...(answerStore !== undefined && { answerStore: resolveStore(answerStore, "idempotency.store") }),
  };
}

/** Checks at the start whether the file of events can be written. */
async function checkEventsFile({ events }: ConfigFile, context: ConfigContext): Promise<void> {
  const problem = events?.file && (await findWriteProblem(context.toPath(events.file)));
  if (problem) addProblem(context, "events.file", problem);
}

/** A trigger of the command writes a line to the log for each member; programs that follow the log act on it. */
function toLoggedTriggers(
  triggers: NonNullable<ConfigFile["triggers"]>,
  logger: Logger,
): Readonly<Record<string, Trigger>> {
  const run: Trigger["run"] = ({ trigger, account }, members) => {
    for (const { path } of members) logger.info({ trigger, path, account: account.name }, "A trigger was run.");
  };
  return Object.fromEntries(Object.entries(triggers).map(([name, entry]) => [name, { ...entry, run }]));
}

/** The members of a key whose store is opened later. */
function withoutStore<T extends { readonly store?: string }>({ store: _store, ...members }: T): Omit<T, "store"> {
  return members;
}
