import { type Command, InvalidArgumentError } from "commander";
import { LINK_PERMISSIONS, type LinkPermission } from "../contracts/links.ts";
import type { CreateFlags, ListFlags, RevokeFlags } from "./commands/link.ts";
import { overrideVariables } from "./environment.ts";

const linkHelp = `
Examples:
  fileferry link create /reports --config fileferry.json --account alice --expires 12h --qr
  fileferry link create /inbox --config fileferry.json --account alice --permission allow-write --password < password.txt
  fileferry link list --config fileferry.json --account alice
  fileferry link revoke 5f2b8c0d9e714a63b1c7d2e4f6a80913 --config fileferry.json

The configuration needs links.store as redis://, rediss:// or sqlite://, which the running service uses too;
without links.store, links can be created, but neither listed nor revoked.
Exit status: 0 for success, 1 for a link that is refused or not found, 2 for wrong flags or configuration.`;

const SECONDS: Readonly<Record<string, number>> = { "": 1, m: 60, h: 3600, d: 86_400 };

/** Adds `link create`, `link list` and `link revoke` to the command. */
export function addLinkCommands(program: Command): void {
  const link = program
    .command("link")
    .description("create, list and revoke links to files and folders of an account")
    .addHelpText("after", linkHelp);
  addCreate(link);
  addList(link);
  addRevoke(link);
}

function addCreate(link: Command): void {
  link
    .command("create")
    .description("create a link and print its URL")
    .hook("preAction", (command) => overrideVariables(command, [["qr", "json"]]))
    .argument("<path>", "the path as the account sees it, such as /reports/a.csv")
    .requiredOption("--config <file>", "the configuration file of the service")
    .requiredOption("--account <name>", "the account whose file or folder it is")
    .option(
      "--permission <value>",
      `${LINK_PERMISSIONS.join(", ")} (repeatable; default: allow-read, and allow-list for a folder)`,
      collectPermission,
      [],
    )
    .option(
      "--expires <duration>",
      "how long it lasts, as 3600, 90m, 12h or 7d (default: links.defaultSeconds)",
      parseDuration,
    )
    .option("--max-uses <number>", "how many downloads and uploads it has in total", toNumber)
    .option("--max-file-bytes <number>", "the maximum size of an uploaded file", toNumber)
    .option("--password", "read a password from standard input, which visitors have to enter")
    .option("--ask-name", "ask senders of files for their name")
    .option("--label <text>", "a note for the owner of the link")
    .option("--origin <url>", "what the URL begins with (default: publicOrigin of the configuration)", toOrigin)
    .option("--qr", "print a QR code of the URL too")
    .option("--json", "print the link as JSON, as the service describes it")
    .action(async (path: string, flags: Omit<CreateFlags, "path">) => {
      const { createLink } = await import("./commands/all-but-serve.ts");
      await createLink({ ...flags, path }, process);
    });
}

function addList(link: Command): void {
  link
    .command("list")
    .description("list the links of an account, newest first")
    .requiredOption("--config <file>", "the configuration file of the service")
    .requiredOption("--account <name>", "the account")
    .option("--json", "print JSON with the URLs, as the service describes links")
    .action(async (flags: ListFlags) => {
      const { printLinks } = await import("./commands/all-but-serve.ts");
      await printLinks(flags, process);
    });
}

function addRevoke(link: Command): void {
  link
    .command("revoke")
    .description("revoke a link at once")
    .argument("<id>", "its ID, as list prints it")
    .requiredOption("--config <file>", "the configuration file of the service")
    .action(async (id: string, flags: Omit<RevokeFlags, "id">) => {
      const { revokeLink } = await import("./commands/all-but-serve.ts");
      await revokeLink({ ...flags, id }, process);
    });
}

function collectPermission(value: string, previous: readonly LinkPermission[]): readonly LinkPermission[] {
  const known = LINK_PERMISSIONS.find((permission) => permission === value);
  if (known === undefined) throw new InvalidArgumentError(`expected one of ${LINK_PERMISSIONS.join(", ")}`);
  return [...previous, known];
}

/** The seconds of a duration such as 3600, 90m, 12h or 7d. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, number, unit = ""] = /^(\d{1,10})([mhd]?)$/.exec(text) ?? [];
  if (!(Number(number) > 0)) throw new InvalidArgumentError("expected seconds, or a duration such as 90m, 12h or 7d");
  return Number(number) * (SECONDS[unit] ?? 1);
}

function toNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 1 on");
  return Number(text);
}

function toOrigin(text: string): string {
  const isOrigin = URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
  if (!isOrigin) throw new InvalidArgumentError("expected an origin such as https://files.example");
  return text;
}
