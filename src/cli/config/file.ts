import { open, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { Trigger } from "../../contracts/trigger.ts";
import { createDiskStorage } from "../../storage/disk.ts";
import { createMemoryStorage } from "../../storage/memory.ts";
import { createFailure, describeSystemError } from "../failure.ts";
import type { LogFormat } from "../log/access-log.ts";
import { parseSessionStore } from "../session-store.ts";
import type { WorkerChannel } from "../workers/worker.ts";
import { toMethods } from "./authenticators.ts";
import { toConnectionSettings } from "./connections.ts";
import { addProblem, type ConfigContext, toFailure } from "./context.ts";
import { toListeners } from "./events.ts";
import { parseJsonText } from "./json-text.ts";
import { toS3Storage } from "./s3.ts";
import { type ConfigFile, configFileSchema, describeIssues, toGroups } from "./schema.ts";
import {
  defaultHost,
  defaultPort,
  findFolderProblem,
  type ServeSettings,
  warnOfClosedFolder,
} from "./serve-settings.ts";
import { readTlsFiles } from "./tls.ts";

/** What else decides on the settings. */
export interface ReadOptions {
  /** Wins over that of the file. */
  readonly logFormat?: LogFormat | undefined;
  /** What ties a worker to the others. */
  readonly worker?: WorkerChannel | undefined;
}

/**
 * Reads a configuration file (CONTRACT 10) and makes of it what `serve` needs. Rejects with a failure of status 2
 * that holds every problem found, one a line as `fileferry.json: storage.root: does not exist`.
 */
export async function readConfigFile(
  file: string,
  createLogger: (format: LogFormat) => Logger,
  { logFormat: flaggedFormat, worker }: ReadOptions = {},
): Promise<ServeSettings> {
  const config = await readConfig(file);
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

/** What a configuration file says, as it stands in it. Rejects with a failure of status 2. */
export async function readConfig(file: string): Promise<ConfigFile> {
  const parsed = configFileSchema.safeParse(await readJson(file));
  if (!parsed.success) throw toFailure({ file, problems: describeIssues(parsed.error) });
  return parsed.data;
}

/** Relative paths start at the configuration's own folder. */
export function toResolver(file: string): (path: string) => string {
  const folder = dirname(resolve(file));
  return (path) => resolve(folder, path);
}

async function toSettings(config: ConfigFile, context: ConfigContext): Promise<ServeSettings> {
  const { listen = {}, storage = { type: "disk", root: "./files" } } = config;
  const groups = toGroups(config.groups);
  const tls = listen.tls === undefined ? undefined : await readTlsFiles(listen.tls, context);
  await checkStorage(storage, context);
  await checkEventsFile(config, context);
  if (context.problems.length > 0) throw toFailure(context);
  const made = toStorage(storage, context);
  if (context.problems.length > 0) throw toFailure(context);
  const { listeners, ...hearers } = toListeners(config, context);
  return {
    host: listen.host ?? defaultHost,
    port: listen.port ?? defaultPort,
    connections: toConnectionSettings(config.connections),
    ...hearers,
    ...toSessionStore(config, context),
    ...(storage.type === "memory" && { hasOwnStorage: true }),
    logFormat: context.logFormat,
    ...(tls === undefined ? undefined : { tls }),
    ...(made.checkStorage !== undefined && { checkStorage: made.checkStorage }),
    service: {
      storage: made.storage,
      authentication: toMethods(config, groups, context, listeners),
      logger: context.logger,
      onEvent: listeners,
      ...toServiceOptions(config),
      ...(config.triggers !== undefined && { triggers: toLoggedTriggers(config.triggers, context.logger) }),
    },
  };
}

/** Where the sessions are, when several processes are to share them. */
function toSessionStore({ session }: ConfigFile, { file, toPath }: ConfigContext): Pick<ServeSettings, "sessionStore"> {
  if (session?.store === undefined) return {};
  const store = parseSessionStore(session.store);
  const place = `${file}: session.store`;
  return { sessionStore: { place, store: store.kind === "sqlite" ? { ...store, file: toPath(store.file) } : store } };
}

/** What cannot be written to at the start will not be later; a pipe would wait for its reader. */
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

/** What the command's triggers do: whoever follows the log acts on it. */
function toLoggedTriggers(
  triggers: NonNullable<ConfigFile["triggers"]>,
  logger: Logger,
): Readonly<Record<string, Trigger>> {
  const run: Trigger["run"] = ({ trigger, account }, members) => {
    for (const { path } of members) logger.info({ trigger, path, account: account.name }, "A trigger was run.");
  };
  return Object.fromEntries(Object.entries(triggers).map(([name, entry]) => [name, { ...entry, run }]));
}

/** The keys that are options of the service under the same name. */
function toServiceOptions(config: ConfigFile) {
  const { groups, basePath, server, session, acceptedOrigins, passwordPolicy, limits, clientForwardedHeader } = config;
  const { component, publicError, branding, frameAncestors, archive, metadataFields, publicOrigin, trustedProxies } =
    config;
  const { store: _store, ...ownSession } = session ?? {};
  return {
    ...(component === undefined ? undefined : { component }),
    ...(publicError === undefined ? undefined : { publicError }),
    ...(metadataFields === undefined ? undefined : { metadataFields }),
    ...(branding === undefined ? undefined : { branding }),
    ...(frameAncestors === undefined ? undefined : { frameAncestors }),
    ...(archive === undefined ? undefined : { archive }),
    ...(passwordPolicy === undefined ? undefined : { passwordPolicy }),
    ...(limits === undefined ? undefined : { limits }),
    ...(clientForwardedHeader === undefined ? undefined : { clientForwardedHeader }),
    ...(trustedProxies === undefined ? undefined : { trustedProxies }),
    ...(publicOrigin === undefined ? undefined : { publicOrigin }),
    ...(groups === undefined ? undefined : { groups }),
    ...(basePath === undefined ? undefined : { basePath }),
    ...(server === undefined ? undefined : { server }),
    session: ownSession,
    ...(acceptedOrigins === undefined ? undefined : { acceptedOrigins }),
  };
}

/** The content of a JSON file. Rejects with a failure of status 2. */
export async function readJson(file: string): Promise<unknown> {
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

/** The storage, and what tells at the start whether it can be reached. Problems with a remote one are added to the others. */
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
