import type { Command } from "commander";
import type { AccountFlags } from "./commands/account.ts";

const accountHelp = `
Examples:
  fileferry account add alice --file accounts.json --group staff
  fileferry account set-password alice --file accounts.json < password.txt
  fileferry account set-totp alice --file accounts.json --issuer "Files of Example"
  fileferry account disable alice --file accounts.json
  fileferry account list --file accounts.json

Running services see a change within a second. A password is asked for on a terminal, or is the first line of standard input.
Exit status: 0 for success, 2 for a wrong flag or a file that is not valid, 1 if the file cannot be read or written,
if there is no such account, or if add finds that there is one already.`;

type Flags = Omit<AccountFlags, "verb" | "name">;

/** Adds the commands of `account`, and `unlock` to the command. */
export function addAccountCommands(program: Command): void {
  const account = program
    .command("account")
    .description("change the accounts of an accounts file")
    .addHelpText("after", accountHelp);

  function addVerb(verb: AccountFlags["verb"], description: string): Command {
    const command = account.command(verb).description(description);
    if (verb !== "list") command.argument("<name>", "the name of the account");
    return command.requiredOption("--file <file>", "the accounts file").action(async (...given: readonly unknown[]) => {
      const [name, flags] = verb === "list" ? ["", given[0]] : given;
      const { runAccountCommand } = await import("./commands/all-but-serve.ts");
      await runAccountCommand({ ...(flags as Flags), verb, name: String(name) }, process);
    });
  }

  addVerb("add", "add an account; the file is made if there is none")
    .option("--home <path>", "the home folder in the storage (default: that of the group, or a folder of the name)")
    .option("--group <id>", "the group of the configuration that the account belongs to")
    .option("--email <address>", "the e-mail address, for events")
    .option(
      "--permission <value>",
      "a permission for everything, such as allow-read (repeatable)",
      (value: string, previous: readonly string[] = []) => [...previous, value],
    );
  addVerb("list", "list the accounts").option("--json", "print JSON, a line for each account, without secrets");
  addVerb("set-password", "give an account another password; its sessions end");
  addVerb("set-totp", "turn on two-factor login of an account, with a new secret; its sessions end").option(
    "--issuer <name>",
    "the name of the service in the authenticator app (default: fileferry)",
  );
  addVerb("remove-totp", "turn off two-factor login of an account; its sessions end");
  addVerb("disable", "forbid an account to log in; its sessions end, and its links and API keys stop working");
  addVerb("enable", "let a disabled account log in again");
  addVerb("remove", "remove an account; its files stay");

  addUnlockCommand(program);
}

const unlockHelp = `
Examples:
  fileferry unlock alice --config fileferry.json
  fileferry unlock alice --address 192.0.2.7 --config fileferry.json

By default ten failed logins in ten minutes lock the address that they came from: name it by --address.
A hundred, from all addresses together, lock the account. The log has the address of each refused login.
The configuration needs session.store, which the running service uses too.
Exit status: 0 for success, 1 if no failed logins are counted or the store fails,
2 for a wrong flag or configuration, or without session.store.`;

function addUnlockCommand(program: Command): void {
  program
    .command("unlock")
    .description("let an account log in again after too many failed logins")
    .argument("<name>", "the name of the account")
    .requiredOption("--config <file>", "the configuration file of the service")
    .option("--address <address>", "also forget the failed logins of this client address")
    .addHelpText("after", unlockHelp)
    .action(async (name: string, flags: { readonly config: string; readonly address?: string }) => {
      const { unlock } = await import("./commands/all-but-serve.ts");
      await unlock({ ...flags, name }, process);
    });
}
