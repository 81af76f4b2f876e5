import type { Command } from "commander";
import type { QuotaFlags } from "./commands/quota.ts";

const quotaHelp = `
Examples:
  fileferry quota show --config fileferry.json
  fileferry quota recount /shared --config fileferry.json --json

A path is one of the storage. Without a path, the folders of quota.folders are shown.
Processes with quota.store as memory each count for themselves: this command then counts the files itself.
Exit status: 0 for success, 1 for a storage or store that fails, 2 for a wrong path or configuration.`;

/** Adds `quota show` and `quota recount` to the command. */
export function addQuotaCommands(program: Command): void {
  const quota = program
    .command("quota")
    .description("show or recount how much is stored in folders")
    .addHelpText("after", quotaHelp);
  addVerb(quota, "show", "usage", "show how much is stored, and the limits");
  addVerb(quota, "recount", "recount", "count all files again, and show the result");
}

function addVerb(quota: Command, name: string, verb: "usage" | "recount", description: string): void {
  quota
    .command(name)
    .description(description)
    .argument("[path]", "a folder of the storage, such as /shared")
    .requiredOption("--config <file>", "the configuration file of the service")
    .option("--json", "print JSON")
    .action(async (path: string | undefined, flags: Omit<QuotaFlags, "path">) => {
      const { printQuota } = await import("./commands/all-but-serve.ts");
      await printQuota(verb, { ...flags, path }, process);
    });
}
