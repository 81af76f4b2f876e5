import { type Command, InvalidArgumentError } from "commander";
import { KEY_PERMISSIONS, type KeyPermission } from "../contracts/api-keys.ts";
import type { CreateKeyFlags, KeyPlace, ListKeysFlags } from "./commands/key.ts";
import { overrideVariables } from "./environment.ts";
import { parseDuration } from "./link-program.ts";

const keyHelp = `
Examples:
  fileferry key create --account alice --label backup --permission allow-read --permission allow-list --file accounts.json
  fileferry key create --account alice --path /inbox --permission allow-write --expires 30d --config fileferry.json
  fileferry key list --file accounts.json
  fileferry key revoke 5f2b8c0d9e714a63 --file accounts.json

A key is printed once. A program sends it as "Authorization: Bearer", or as the password of HTTP Basic.
Running services see a change within a second.
Exit status: 0 for success, 2 for a wrong flag or a file that is not valid, 1 if the file cannot be read or written,
or if there is no such account or key.`;

/** Adds `key create`, `key list` and `key revoke` to the command. */
export function addKeyCommands(program: Command): void {
  const key = program
    .command("key")
    .description("make, list and revoke API keys of the accounts of an accounts file")
    .addHelpText("after", keyHelp);

  function addVerb(verb: string, description: string): Command {
    return key
      .command(verb)
      .description(description)
      .hook("preAction", (command) => overrideVariables(command, [["file", "config"]]))
      .option("--file <file>", "the accounts file")
      .option("--config <file>", "the configuration file, which names the accounts file");
  }

  addVerb("create", "make an API key and print it")
    .requiredOption("--account <name>", "the account")
    .option("--label <text>", "a note for the owner of the key")
    .option(
      "--permission <value>",
      `${KEY_PERMISSIONS.join(", ")} (repeatable; default: all that the account has)`,
      collectPermission,
      [],
    )
    .option("--path <path>", "the file or folder, as the account sees it, that the key is for (default: everything)")
    .option(
      "--expires <duration>",
      "how long it lasts, as 3600, 90m, 12h or 30d (default: it does not expire)",
      parseDuration,
    )
    .option("--json", "print the key and its facts as JSON")
    .action(async (flags: CreateKeyFlags) => {
      const { createKey } = await import("./commands/all-but-serve.ts");
      await createKey(flags, process);
    });

  addVerb("list", "list the API keys, without the keys themselves")
    .option("--account <name>", "only those of this account")
    .option("--json", "print JSON, a line for each key")
    .action(async (flags: ListKeysFlags) => {
      const { printKeys } = await import("./commands/all-but-serve.ts");
      await printKeys(flags, process);
    });

  addVerb("revoke", "revoke an API key at once")
    .argument("<id>", "its ID, as list prints it, or the key itself")
    .action(async (id: string, flags: KeyPlace) => {
      const { removeKey } = await import("./commands/all-but-serve.ts");
      await removeKey(id, flags, process);
    });
}

function collectPermission(value: string, previous: readonly KeyPermission[]): readonly KeyPermission[] {
  const known = KEY_PERMISSIONS.find((permission) => permission === value);
  if (known === undefined) throw new InvalidArgumentError(`expected one of ${KEY_PERMISSIONS.join(", ")}`);
  return [...previous, known];
}
