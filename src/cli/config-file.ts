import { open, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { Groups } from "../account/account.ts";
import { createAccountsAuthenticator } from "../auth/accounts.ts";
import { createAccountsFileAuthenticator } from "../auth/accounts-file-node.ts";
import type { PasswordHasher } from "../auth/password-hash.ts";
import { createNodePasswordHasher } from "../auth/password-hash-node.ts";
import type { Authenticator } from "../contracts/authenticator.ts";
import type { OnEvent } from "../contracts/events.ts";
import type { Logger } from "../contracts/logger.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { Trigger } from "../contracts/trigger.ts";
import { createHttpAuthenticator } from "../remote-auth/http-authenticator.ts";
import type { NodeTlsOptions } from "../runtimes/node-server.ts";
import type { EventSink } from "../sinks/event-sink.ts";
import { createMetrics } from "../sinks/metrics.ts";
import { createNdjsonSink } from "../sinks/node-ndjson.ts";
import { createWebhookSink } from "../sinks/webhook.ts";
import { createDiskStorage } from "../storage/disk.ts";
import { createMemoryStorage } from "../storage/memory.ts";
import type { LogFormat } from "./access-log.ts";
import { findAccountProblem, readAccountsFile } from "./config-accounts.ts";
import {
  type AuthenticationEntry,
  type ConfigFile,
  configFileSchema,
  describeIssues,
  toGroups,
  toPlace,
  toWebhookOptions,
} from "./config-schema.ts";
import { createFailure, describeSystemError } from "./failure.ts";
import { parseJsonText } from "./json-text.ts";
import { defaultHost, defaultPort, findFolderProblem, type ServeSettings } from "./serve-settings.ts";

/** Where a configuration comes from, and where its problems go. */
interface ConfigContext {
  /** As the user named it: the beginning of every problem. */
  readonly file: string;
  readonly logFormat: LogFormat;
  readonly logger: Logger;
  /** One for all accounts: it bounds how many hashes are computed at once. */
  readonly passwordHasher: PasswordHasher;
  /** Everything found wrong so far. */
  readonly problems: string[];
  /** An absolute path; relative ones start at the configuration's own folder. */
  toPath(path: string): string;
}

type TlsFiles = NonNullable<NonNullable<ConfigFile["listen"]>["tls"]>;

/**
 * Reads a configuration file (CONTRACT 10) and makes of it what `serve` needs. Rejects with a failure of status 2
 * that holds every problem found, one a line as `fileferry.json: storage.root: does not exist`. `flaggedFormat` wins over the file's.
 */
export async function readConfigFile(
  file: string,
  createLogger: (format: LogFormat) => Logger,
  flaggedFormat?: LogFormat,
): Promise<ServeSettings> {
  const config = await readConfig(file);
  const logFormat = flaggedFormat ?? config.log?.format ?? "text";
  return toSettings(config, {
    file,
    logFormat,
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
  const { listen = {}, storage = { type: "disk", root: "./files" }, authentication } = config;
  const groups = toGroups(config.groups);
  const tls = listen.tls === undefined ? undefined : await readTlsFiles(listen.tls, context);
  await checkStorage(storage, context);
  await checkEventsFile(config, context);
  if (context.problems.length > 0) throw toFailure(context);
  const sinks = toSinks(config, context);
  const metrics = config.metrics && createMetrics({ sessionSeconds: config.session?.maxSeconds ?? 43_200 });
  const listeners = [...sinks, ...(metrics === undefined ? [] : [metrics.onEvent])];
  return {
    host: listen.host ?? defaultHost,
    port: listen.port ?? defaultPort,
    sinks,
    logFormat: context.logFormat,
    ...(config.metrics !== undefined &&
      metrics !== undefined && {
        metrics: { host: config.metrics.host ?? defaultHost, port: config.metrics.port, ...metrics },
      }),
    ...(tls === undefined ? undefined : { tls }),
    service: {
      storage: toStorage(storage, context),
      authentication: authentication.map((entry, index) =>
        entry.type === "http"
          ? toHttpAuthenticator(entry, config, context, listeners)
          : toAuthenticator(entry, index, groups, context),
      ),
      logger: context.logger,
      onEvent: listeners,
      ...toServiceOptions(config),
      ...(config.triggers !== undefined && { triggers: toLoggedTriggers(config.triggers, context.logger) }),
    },
  };
}

/** The sinks that the configuration names. They are closed when the service has ended. */
function toSinks({ events = {} }: ConfigFile, { logger, toPath }: ConfigContext): readonly EventSink[] {
  const { file, webhooks = [], ...fileOptions } = events;
  return [
    ...(file === undefined ? [] : [createNdjsonSink({ ...fileOptions, file: toPath(file), logger })]),
    ...webhooks.map((webhook) => createWebhookSink({ ...toWebhookOptions(webhook), logger })),
  ];
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
  const { component, publicError, branding, frameAncestors, archive, metadataFields } = config;
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
    ...(groups === undefined ? undefined : { groups }),
    ...(basePath === undefined ? undefined : { basePath }),
    ...(server === undefined ? undefined : { server }),
    ...(session === undefined ? undefined : { session }),
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

async function readTlsFiles(files: TlsFiles, context: ConfigContext): Promise<NodeTlsOptions | undefined> {
  const key = await readTlsFile("key", files.key, context);
  const cert = await readTlsFile("cert", files.cert, context);
  const ca = files.ca === undefined ? undefined : await readTlsFile("ca", files.ca, context);
  if (key === undefined || cert === undefined || (ca === undefined && files.ca !== undefined)) return undefined;
  const tls = { key, cert, ...(ca === undefined ? undefined : { ca }) };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    addProblem(context, "listen.tls", `the key and certificates do not work: ${toOneLine((error as Error).message)}`);
    return undefined;
  }
}

async function readTlsFile(member: keyof TlsFiles, path: string, context: ConfigContext): Promise<Buffer | undefined> {
  try {
    return await readFile(context.toPath(path));
  } catch (error) {
    addProblem(context, `listen.tls.${member}`, `cannot be read: ${describeSystemError(error)}`);
    return undefined;
  }
}

async function checkStorage(storage: NonNullable<ConfigFile["storage"]>, context: ConfigContext): Promise<void> {
  if (storage.type !== "disk") return;
  const problem = await findFolderProblem(context.toPath(storage.root));
  if (problem !== undefined) addProblem(context, "storage.root", problem);
}

function toStorage(storage: NonNullable<ConfigFile["storage"]>, { toPath }: ConfigContext): StorageAdapter {
  if (storage.type === "memory") return createMemoryStorage();
  const { type, root, ...options } = storage;
  return createDiskStorage({ ...options, root: toPath(root) });
}

/** The method asks in the name of this server, and of the component that its users log in to (CONTRACT 9.4). */
function toHttpAuthenticator(
  { type: _type, ...options }: Extract<AuthenticationEntry, { type: "http" }>,
  { server, component, listen }: ConfigFile,
  { logger }: ConfigContext,
  listeners: readonly OnEvent[],
): Authenticator {
  return createHttpAuthenticator({
    ...options,
    onEvent: (event) => {
      for (const listener of listeners) listener(event);
    },
    ...(server?.uuid !== undefined && { server: { uuid: server.uuid } }),
    creator: { ...component, type: listen?.tls === undefined ? "http" : "https" },
    logger,
  });
}

function toAuthenticator(
  entry: Extract<AuthenticationEntry, { type: "accounts" }>,
  index: number,
  groups: Groups,
  context: ConfigContext,
): Authenticator {
  const { logger, passwordHasher } = context;
  if (entry.file === undefined) {
    return createAccountsAuthenticator({ accounts: entry.accounts ?? [], passwordHasher, logger });
  }
  const path = context.toPath(entry.file);
  const fromFile = createAccountsFileAuthenticator({ file: path, passwordHasher, logger });
  return { ...fromFile, start };

  async function start(): Promise<void> {
    const place = `authentication[${index}].file`;
    await startFromFile(fromFile, place, context);
    await checkAccountsFile(path, groups, place, context);
  }
}

/** An account of the file that could never log in ends the start, as one of the configuration does. */
async function checkAccountsFile(path: string, groups: Groups, place: string, context: ConfigContext): Promise<void> {
  const accounts = [...(await readAccountsFile(path))];
  for (const [index, [username, settings]] of accounts.entries()) {
    const problem = findAccountProblem(username, settings, groups);
    if (problem === undefined) continue;
    addProblem(context, place, `${path}: ${toPlace(["accounts", index, ...problem.path])}: ${problem.reason}`);
  }
  if (context.problems.length > 0) throw toFailure(context);
}

/** An accounts file is a part of the configuration: what is wrong in it has the same form and the same status. */
async function startFromFile(authenticator: Authenticator, place: string, context: ConfigContext): Promise<void> {
  try {
    await authenticator.start?.();
  } catch (error) {
    addProblem(context, place, toOneLine((error as Error).message));
    throw toFailure(context);
  }
}

function addProblem({ problems }: ConfigContext, place: string, reason: string): void {
  problems.push(`${place}: ${reason}`);
}

function toFailure({ file, problems }: { readonly file: string; readonly problems: readonly string[] }): Error {
  return createFailure(
    2,
    problems.map((problem) => `${file}: ${problem}`),
  );
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
