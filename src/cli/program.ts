import { Command, CommanderError } from "commander";
import { VERSION } from "../config/version.ts";
import { OPERATIONS } from "../contracts/account.ts";
import { addAccountCommands } from "./account-program.ts";
import { addCheckCommands } from "./check-program.ts";
import type { CheckFlags } from "./commands/check-auth-endpoint.ts";
import { addCompletionCommand } from "./completion-program.ts";
import { addEnvironment } from "./environment.ts";
import { type CommandFailure, failureOf } from "./failure.ts";
import { collect, parseSeconds } from "./flag-values.ts";
import { addKeyCommands } from "./key-program.ts";
import { addLinkCommands } from "./link-program.ts";
import { colorsOf, escapeLine } from "./log/terminal.ts";
import { addQuotaCommands } from "./quota-program.ts";
import { addServeCommand } from "./serve-program.ts";
import { addTrashCommands } from "./trash-program.ts";

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
    .description("Serves folders over HTTP: pages for browsers, a JSON REST API and WebDAV, all at the same URLs.")
    .version(VERSION)
    .exitOverride()
    // The descriptions name the defaults. Commander would add `[]` as that of a repeatable option.
    .configureHelp({ optionDescription: ({ description }) => description })
    .configureOutput({
      outputError: (text) => printFailure({ exitStatus: 2, problems: [withoutValues(text.trim())] }),
    });

  addServeCommand(program);

  program
    .command("hash-password")
    .description("read a password and print its hash, a PHC string, for the configuration")
    .action(async () => {
      const { hashPassword } = await import("./commands/all-but-serve.ts");
      process.stdout.write(`${await hashPassword(process.stdin, process.stderr)}\n`);
    });

  addCheckCommands(program, endWith);
  addAccountCommands(program);
  addKeyCommands(program);
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
      const { explain } = await import("./commands/all-but-serve.ts");
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
      const { checkAuthEndpoint } = await import("./commands/all-but-serve.ts");
      endWith(await checkAuthEndpoint({ ...options, url }, process));
    });

  addCompletionCommand(program);
  addEnvironment(program, process.env);
  return program;
}

/** A problem of the parser, without the value of an unknown option, which may be a password. */
function withoutValues(problem: string): string {
  return problem.replace(/^(error: unknown option '--?[\w-]+)=.*'/s, "$1'");
}

function printFailure({ problems }: CommandFailure): void {
  const colors = colorsOf(process.stderr);
  for (const problem of problems) {
    process.stderr.write(`${escapeLine(problem).replace(/^error:/, colors.red("error:"))}\n`);
  }
}
