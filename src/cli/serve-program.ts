import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { VERSION } from "../config/version.ts";
import type { Logger } from "../contracts/logger.ts";
import { type ServeOutputs, serve } from "./commands/serve.ts";
import { type ServeSettings, toServeSettings } from "./config/serve-settings.ts";
import { dropVariable, findUnknownVariables, overrideVariables } from "./environment.ts";
import { createFailure } from "./failure.ts";
import { collect, parseDeadline, parseHost, parseLogFormat, parsePort, parseWorkers } from "./flag-values.ts";
import type { LogFormat } from "./log/format.ts";
import { createJsonLogger } from "./log/json.ts";
import { createLogOutput } from "./log/log-file.ts";
import { createTerminalLogger } from "./log/terminal.ts";
import { PACKAGE_FOLDER } from "./optional-package.ts";
import { connectToPrimary } from "./workers/worker.ts";

interface ServeOptions {
  readonly account: readonly string[];
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly quiet?: true;
  /** Seconds. */
  readonly deadline?: number;
  readonly links?: true;
  readonly logFormat?: LogFormat;
  readonly logFile?: string;
  /** `true` for the number of cores. */
  readonly workers?: number | true;
}

const serveHelp = `
Examples:
  fileferry serve ./files --account alice:secret
  fileferry serve ./files --account 'alice:$scrypt$ln=13,r=8,p=10$...' --host 0.0.0.0 --port 8080
  fileferry serve --config fileferry.json

When the server is ready, its address is printed on stdout. The log is written to stderr.`;

/** Adds `serve` to the command. */
export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("serve a folder, or what a configuration file describes")
    .argument("[folder]", "the home folder of every --account")
    .option("--account <name:password>", "an account; the password may be a PHC string (repeatable)", collect, [])
    .option("--config <file>", "a configuration file, JSON or YAML, instead of a folder and accounts")
    .option("--host <host>", "the address to listen on (default: 127.0.0.1)", parseHost)
    .option("--port <port>", "the port to listen on, 0 for a free one (default: 8080)", parsePort)
    .option("--workers [number]", "the number of processes; auto, or no number: one per core", parseWorkers)
    .option(
      "--deadline <seconds>",
      "abort transfers that take longer than this at shutdown; 0 waits for all (default: 0)",
      parseDeadline,
    )
    .option("--links", "let accounts make links to their files; the links end with this process")
    .option("--quiet", "do not log requests")
    .option("--log-format <format>", "text, json, combined or a text with variables (default: text)", parseLogFormat)
    .option("--log-file <file>", "the file that the log goes to; SIGHUP reopens it (default: stderr)")
    .addHelpText("after", serveHelp)
    .hook("preAction", (command) => {
      if (command.args.length > 0) dropVariable(command, "config");
      overrideVariables(command, [
        ["config", "account"],
        ["config", "links"],
      ]);
    })
    .action((folder: string | undefined, options: ServeOptions, command: Command) => {
      const source = command.getOptionValueSource("config");
      return runServe(program, folder ?? readFolderVariable(source), options);
    });
}

/** The folder of the environment, unless the command line has a configuration. */
function readFolderVariable(configSource: string | undefined): string | undefined {
  const folder = process.env.FILEFERRY_FOLDER || undefined;
  if (folder === undefined || configSource === "cli") return undefined;
  if (configSource !== "env") return folder;
  throw createFailure(2, ["error: FILEFERRY_CONFIG and FILEFERRY_FOLDER cannot be used together"]);
}

async function runServe(program: Command, folder: string | undefined, options: ServeOptions): Promise<void> {
  const log = createServeLog(options);
  // Two builds of one version are in different folders.
  const running = { version: VERSION, node: process.version, folder: PACKAGE_FOLDER };
  const outputs: ServeOutputs = {
    ...log.outputs,
    ...(options.config !== undefined && { onListening: () => log.logger().info(running, "The service is running.") }),
  };
  const worker = connectToPrimary({ warn: (details, message) => log.logger().warn(details, message) });
  if (worker !== undefined) {
    const { port } = worker;
    return worker.run(async () => serve({ ...(await readSettings()), port }, outputs, worker));
  }
  const settings = await readSettings();
  await warnOfUnknownVariables(program, options, log.logger());
  const count = options.workers === true ? availableParallelism() : (options.workers ?? 1);
  if (count === 1) return serve(settings, outputs);
  const { findSharingProblem, serveByWorkers } = await import("./workers/primary.ts");
  const problem = findSharingProblem(settings);
  if (problem !== undefined) throw createFailure(2, [`error: --workers ${problem}`]);
  return serveByWorkers(settings, count, outputs);

  async function readSettings(): Promise<ServeSettings> {
    return withDeadline(await (options.config === undefined ? fromFlags() : fromConfig(options.config)));
  }

  function withDeadline(read: ServeSettings): ServeSettings {
    if (options.deadline === undefined) return read;
    return { ...read, connections: { ...read.connections, deadlineSeconds: options.deadline } };
  }

  function fromFlags(): Promise<ServeSettings> {
    if (folder === undefined) throw createFailure(2, ["error: serve needs a folder, or --config"]);
    if (options.account.length === 0)
      throw createFailure(2, ["error: serve needs at least one --account name:password"]);
    const { account: accounts, host, port, logFormat = "text", links: hasLinks = false } = options;
    return toServeSettings({ folder, accounts, host, port, logFormat, hasLinks }, log.use(logFormat));
  }

  /** The flags for the address and the log format override the file. */
  async function fromConfig(file: string): Promise<ServeSettings> {
    if (folder !== undefined || options.account.length > 0) {
      throw createFailure(2, ["error: --config cannot be used together with a folder or --account"]);
    }
    if (options.links) {
      throw createFailure(2, ["error: --config cannot be used together with --links: set links in the configuration"]);
    }
    const { host, port, logFormat } = options;
    const { readConfigFile } = await import("./config/file.ts");
    const config = await readConfigFile(file, log.use, { logFormat, worker });
    return { ...config, host: host ?? config.host, port: port ?? config.port };
  }
}

/** The log of a service, whose format and file may be in the configuration. */
interface ServeLog {
  readonly outputs: ServeOutputs;
  /** The log as it is now. */
  logger(): Logger;
  /** Uses a format and a file from now on. A file of a flag wins. */
  use(format: LogFormat, file?: string): Logger;
}

function createServeLog({ quiet: isQuiet, logFormat = "text", logFile, config }: ServeOptions): ServeLog {
  const quiet = isQuiet === true;
  const stderr = createLogOutput(process.stderr);
  if (logFile !== undefined) stderr.useFile(logFile);
  let logger = toLogger(logFormat);

  function toLogger(format: LogFormat): Logger {
    return format === "json" ? createJsonLogger(stderr, { quiet }) : createTerminalLogger(stderr, { quiet });
  }

  function use(format: LogFormat, file?: string): Logger {
    if (file !== undefined && logFile === undefined) stderr.useFile(file);
    logger = toLogger(format);
    return logger;
  }

  function reopenLog(): void {
    const reason = stderr.reopen();
    if (reason !== undefined) {
      logger.error({ reason }, "The log file could not be opened again. The log goes on in the previous file.");
    }
  }

  // Without either the signal ends the process, as it does when a terminal closes.
  const canReopen = logFile !== undefined || config !== undefined;
  const outputs = { stdout: process.stdout, stderr, quiet, ...(canReopen && { reopenLog }) };
  return { outputs, logger: () => logger, use };
}

/** A variable that the configuration names is known, such as `FILEFERRY_DB` for `"${FILEFERRY_DB}"`. */
async function warnOfUnknownVariables(program: Command, { config }: ServeOptions, logger: Logger): Promise<void> {
  const unknown = findUnknownVariables(program, process.env);
  if (unknown.length === 0) return;
  const text = config === undefined ? "" : await readFile(config, "utf8");
  const variables = unknown.filter((name) => !text.includes(name));
  if (variables.length > 0) logger.warn({ variables }, "These variables of the environment have no effect.");
}
