import { open, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { Trigger } from "../../contracts/trigger.ts";
import { createDiskStorage } from "../../storage/disk.ts";
import { createMemoryStorage } from "../../storage/memory.ts";
import { createClamdGuard } from "../../uploads/clamd-guard-node.ts";
import { createFailure, describeSystemError } from "../failure.ts";
import type { LogFormat } from "../log/access-log.ts";
import { parseSessionStore, type SessionStoreLocation } from "../session-store.ts";
import type { WorkerChannel } from "../workers/worker.ts";
import { toMethods } from "./authenticators.ts";
import { toConnectionSettings } from "./connections.ts";
import { parseAnswerStore } from "./content-keys.ts";
import { addProblem, type ConfigContext, toConfigFailure } from "./context.ts";
import { toListeners } from "./events.ts";
import { describeIssues } from "./issues.ts";
import { parseJsonText } from "./json-text.ts";
import { parseLinkStore, toLinkOptions } from "./links.ts";
import { findOffloadProblem, toOffloadOptions } from "./offload.ts";
import { parseQuotaStore, toQuotaOptions, warnOfUnusedQuotas } from "./quota.ts";
import { toS3Storage } from "./s3.ts";
import { type ConfigFile, configFileSchema, toGroupSettings } from "./schema.ts";
import {
  defaultHost,
  defaultPort,
  findFolderProblem,
  type NamedStore,
  type ServeSettings,
  warnOfClosedFolder,
} from "./serve-settings.ts";
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
 * Reads a configuration file (CONTRACT 10) and returns what `serve` needs. Rejects with a failure of status 2 that
 * holds all problems, each on a line such as `fileferry.json: storage.root: does not exist`.
 */
export async function readConfigFile(
  file: string,
  createLogger: (format: LogFormat) => Logger,
  { logFormat: flaggedFormat, worker, adjust = (config) => config }: ReadOptions = {},
): Promise<ServeSettings> {
  const config = adjust(await readConfig(file));
  const logFormat = flaggedFormat ?? config.log?.format ?? "text";
  return toSettings(config, {
    file,
    logFormat,
    worker,
    isShared: worker !== undefined || config.session?.store !== undefined,
    logger: createLogger(logFormat),
    passwordHasher: createNodePasswordHasher(),
    problems: [],
    toPath: toResolver(file),
  });
}

/** Reads and checks a configuration file; its paths stay as they are. Rejects with a failure of status 2. */
export async function readConfig(file: string): Promise<ConfigFile> {
  const parsed = configFileSchema.safeParse(await readJsonFile(file));
  if (!parsed.success) throw toConfigFailure({ file, problems: describeIssues(parsed.error) });
  return parsed.data;
}

/** Resolves relative paths from the folder of the configuration file. */
export function toResolver(file: string): (path: string) => string {
  const folder = dirname(resolve(file));
  return (path) => resolve(folder, path);
}

async function toSettings(config: ConfigFile, context: ConfigContext): Promise<ServeSettings> {
  const { listen = {}, storage = { type: "disk", root: "./files" } } = config;
  const groups = toGroupSettings(config.groups);
  const tls = listen.tls === undefined ? undefined : await readTlsFiles(listen.tls, context);
  await checkStorage(storage, context);
  await checkEventsFile(config, context);
  const misfit = config.offload && findOffloadProblem(config.offload, storage.type);
  if (misfit !== undefined) addProblem(context, "offload.type", misfit);
  if (context.problems.length > 0) throw toConfigFailure(context);
  const made = toStorage(storage, context);
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
    ...(config.quota !== undefined && { quota: toQuotaOptions(config.quota) }),
    ...(config.trash !== undefined && { trash: config.trash }),
    ...(config.idempotency !== undefined && { idempotency: withoutStore(config.idempotency) }),
    logFormat: context.logFormat,
    ...(tls === undefined ? undefined : { tls }),
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
    return resolveStore(parseSessionStore(text, option), option);
  }

  function resolveStore(store: SessionStoreLocation, option: string): NamedStore {
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

/**
 * Checks at the start whether the file of events is writable. A named pipe is rejected: opening it waits for its
 * reader.
 */
async function checkEventsFile({ events }: ConfigFile, context: ConfigContext): Promise<void> {
  if (events?.file === undefined) return;
  const path = context.toPath(events.file);
  try {
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => true,
    );
    if (!isFile) addProblem(context, "events.file", "is not a regular file");
    else await (await open(path, "a", 0o600)).close();
  } catch (error) {
    addProblem(context, "events.file", `cannot be written: ${describeSystemError(error)}`);
  }
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

/** The keys that are options of the service with the same name. */
function toServiceOptions(config: ConfigFile) {
  const { groups, basePath, server, session, acceptedOrigins, passwordPolicy, limits, clientForwardedHeader } = config;
  const {
    basicCacheSeconds,
    webdav,
    uploads,
    digests,
    cors,
    component,
    publicError,
    branding,
    frameAncestors,
    archive,
    metadataFields,
    publicOrigin,
    trustedProxies,
  } = config;
  const { store: _store, ...ownSession } = session ?? {};
  const { lockStore: _lockStore, ...ownWebdav } = webdav ?? {};
  return {
    ...withoutUndefined({
      component,
      publicError,
      metadataFields,
      branding,
      frameAncestors,
      archive,
      passwordPolicy,
      uploads,
      digests,
      basicCacheSeconds,
      limits,
      clientForwardedHeader,
      trustedProxies,
      publicOrigin,
      groups,
      basePath,
      server,
      acceptedOrigins,
      cors,
    }),
    ...(webdav === undefined ? undefined : { webdav: ownWebdav }),
    session: ownSession,
  };
}

/** The members of a key whose store is opened later. */
function withoutStore<T extends { readonly store?: string }>({ store: _store, ...members }: T): Omit<T, "store"> {
  return members;
}

function withoutUndefined<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** Reads a JSON file. Rejects with a failure of status 2. */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    return parseJsonText(await readFile(file));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : `cannot be read: ${describeSystemError(error)}`;
    throw createFailure(2, [`${file}: ${reason}`]);
  }
}

async function checkStorage(storage: NonNullable<ConfigFile["storage"]>, context: ConfigContext): Promise<void> {
  if (storage.type !== "disk") return;
  const problem = await findFolderProblem(context.toPath(storage.root));
  if (problem !== undefined) addProblem(context, "storage.root", problem);
}

/** Creates the storage, and its check at the start. Problems of a remote storage are added to the context. */
function toStorage(
  storage: NonNullable<ConfigFile["storage"]>,
  context: ConfigContext,
): Pick<ServeSettings, "checkStorage"> & Pick<ServeSettings["service"], "storage"> {
  if (storage.type === "memory") return { storage: createMemoryStorage() };
  if (storage.type === "disk") {
    const { type, root: given, ...options } = storage;
    const root = context.toPath(given);
    const checkStorage = (): Promise<void> => warnOfClosedFolder(root, context.logger);
    return { storage: createDiskStorage({ ...options, root }), checkStorage };
  }
  const made = toS3Storage(storage, process.env);
  if ("check" in made) return { storage: made, checkStorage: made.check };
  for (const problem of made) addProblem(context, "storage", problem);
  return { storage: createMemoryStorage() };
}
