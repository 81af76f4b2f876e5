import { availableParallelism } from "node:os";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import * as z from "zod";
import { OPERATIONS } from "../account/permissions.ts";
import { VERSION } from "../config/version.ts";
import type { Logger } from "../contracts/logger.ts";
import type { CheckFlags } from "./commands/check-auth-endpoint.ts";
import { serve } from "./commands/serve.ts";
import { type ServeSettings, toServeSettings } from "./config/serve-settings.ts";
import { type CommandFailure, createFailure, failureOf } from "./failure.ts";
import { addLinkCommands } from "./link-program.ts";
import type { LogFormat } from "./log/access-log.ts";
import { createJsonLogger } from "./log/json.ts";
import { colorsOf, createTerminalLogger, escapeLine } from "./log/terminal.ts";
import { addQuotaCommands } from "./quota-program.ts";
import { addTrashCommands } from "./trash-program.ts";
import { connectToPrimary } from "./workers/worker.ts";

// Most schemas of the command parse one value: compiling them is no faster, and takes 2 MB.
z.config({ jitless: true });

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
  /** `true` for the number of cores. */
  readonly workers?: number | true;
}

interface ExplainOptions {
  readonly account?: string;
  readonly config?: string;
  readonly settings?: string;
}

const explainHelp = `
Examples:
  fileferry explain --config fileferry.json --account alice read /reports/a.csv
  fileferry explain --settings settings.json write /inbox/a.csv`;

const checkHelp = `
Examples:
  fileferry check-auth-endpoint https://auth.example/login
  fileferry check-auth-endpoint https://auth.example/login --header 'Authorization: token <API_KEY>' --user test < password.txt

Most requests have wrong credentials: an endpoint that locks accounts may lock the account given by --user.`;

const serveHelp = `
Examples:
  fileferry serve ./files --account alice:secret
  fileferry serve ./files --account 'alice:$scrypt$ln=13,r=8,p=10$...' --host 0.0.0.0 --port 8080
  fileferry serve --config fileferry.json

When the server is ready, its address is printed on stdout. The log is written to stderr.`;

/**
 * Runs the command line. `argv` holds the arguments without the name of the program. Prints each problem on a line of
 * its own, and throws only for a bug. Resolves with the exit status:
 * - 0: success.
 * - 1: the start failed, `explain` found that a permission is not granted, a check failed, or a link was refused.
 * - 2: a flag or the configuration is wrong.
 */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    let status = 0;
    await createProgram((other) => (status = other)).parseAsync(argv, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    printFailure(failure);
    return failure.exitStatus;
  }
}

/**
 * Creates the command. `endWith` gets the exit status of a subcommand if it is not 0. What only some runs need is
 * imported when it is needed, for a quick start.
 */
export function createProgram(endWith: (status: number) => void): Command {
  const program = new Command("fileferry")
    .description("Serves folders over HTTP: a browser API, JSON REST and WebDAV on one URL space.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: (text) => printFailure({ exitStatus: 2, problems: [text.trim()] }) });

  program
    .command("serve")
    .description("serve a folder, or what a configuration file describes")
    .argument("[folder]", "the home folder of every --account")
    .option("--account <name:password>", "an account; the password may be a PHC string (repeatable)", collect, [])
    .option("--config <file>", "a JSON configuration file, instead of a folder and accounts")
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
    .addOption(new Option("--log-format <format>", "the format of the log (default: text)").choices(["text", "json"]))
    .addHelpText("after", serveHelp)
    .action(runServe);

  program
    .command("hash-password")
    .description("read a password and print its PHC string, to be configured instead of the password")
    .action(async () => {
      const { hashPassword } = await import("./commands/hash-password.ts");
      process.stdout.write(`${await hashPassword(process.stdin, process.stderr)}\n`);
    });

  addLinkCommands(program);
  addQuotaCommands(program);
  addTrashCommands(program);

  program
    .command("explain")
    .description("explain why an account may or may not access a path; exits with 0 if it may, 1 if not")
    .argument("<operation>", OPERATIONS.join(", "))
    .argument("<path>", "the path as the account sees it, such as /reports/a.csv")
    .option("--account <name>", "the account's name")
    .option("--config <file>", "the configuration file with the account, or with its groups")
    .option("--settings <file>", "a JSON file of account settings, instead of a configured account")
    .addHelpText("after", explainHelp)
    .action(async (operation: string, path: string, options: ExplainOptions) => {
      const { explain } = await import("./commands/explain.ts");
      const { granted, lines } = await explain({ operation, path, ...options });
      for (const line of lines) process.stdout.write(`${escapeLine(line)}\n`);
      endWith(granted ? 0 : 1);
    });

  program
    .command("check-auth-endpoint")
    .description("run conformance checks against an authentication endpoint; exits with 0 if it passes, 1 if not")
    .argument("<url>", "the URL of the endpoint, as in the configuration of a service")
    .option("--header <name: value>", "a header that authenticates the service (repeatable)", collect, [])
    .option("--basic <name:password>", "the service's own HTTP Basic credentials")
    .option("--user <name>", "a test account that the endpoint knows")
    .option("--password <password>", "its password (default: the first line of standard input)")
    .option("--timeout <seconds>", "the time limit for each response; at most 300 (default: 30)", parseSeconds)
    .addHelpText("after", checkHelp)
    .action(async (url: string, options: Omit<CheckFlags, "url">) => {
      const { checkAuthEndpoint } = await import("./commands/check-auth-endpoint.ts");
      endWith(await checkAuthEndpoint({ ...options, url }, process));
    });

  return program;
}

async function runServe(folder: string | undefined, options: ServeOptions): Promise<void> {
  const quiet = options.quiet === true;
  const { stdout, stderr } = process;
  const outputs = { stdout, stderr, quiet };
  let logger = toLogger(options.logFormat ?? "text");
  const worker = connectToPrimary({ warn: (details, message) => logger.warn(details, message) });
  if (worker !== undefined) {
    const { port } = worker;
    return worker.run(async () => serve({ ...(await readSettings()), port }, outputs, worker));
  }
  const settings = await readSettings();
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

  function toLogger(format: LogFormat): Logger {
    return format === "json" ? createJsonLogger(stderr, { quiet }) : createTerminalLogger(stderr, { quiet });
  }

  function createLogger(format: LogFormat): Logger {
    logger = toLogger(format);
    return logger;
  }

  function fromFlags(): Promise<ServeSettings> {
    if (folder === undefined) throw createFailure(2, ["error: serve needs a folder, or --config"]);
    if (options.account.length === 0)
      throw createFailure(2, ["error: serve needs at least one --account name:password"]);
    const { account: accounts, host, port, logFormat = "text", links: hasLinks = false } = options;
    return toServeSettings({ folder, accounts, host, port, logFormat, hasLinks }, createLogger(logFormat));
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
    const config = await readConfigFile(file, createLogger, { logFormat, worker });
    return { ...config, host: host ?? config.host, port: port ?? config.port };
  }
}

function printFailure({ problems }: CommandFailure): void {
  const colors = colorsOf(process.stderr);
  for (const problem of problems) {
    process.stderr.write(`${escapeLine(problem).replace(/^error:/, colors.red("error:"))}\n`);
  }
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

function parseHost(text: string): string {
  if (text === "") throw new InvalidArgumentError("expected a host name or an address");
  return text;
}

function parseSeconds(text: string): number {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(text) || !(Number(text) > 0)) throw new InvalidArgumentError("expected seconds");
  return Number(text);
}

function parseDeadline(text: string): number {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError("expected seconds, or 0");
  return Number(text);
}

function parseWorkers(text: string): number | true {
  if (text === "auto") return true;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError("expected 1 to 999, or auto");
  return Number(text);
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError("expected 0 to 65535");
  return Number(text);
}
