import type { Command } from "commander";
import type { TrashFlags } from "./commands/trash.ts";

const trashHelp = `
Examples:
  fileferry trash list /alice --config fileferry.json
  fileferry trash restore 20260101T120000000Z-0123456789abcdef --to /alice/report.odt --config fileferry.json
  fileferry trash purge 20260101T120000000Z-0123456789abcdef --config fileferry.json
  fileferry trash sweep --config fileferry.json

A path is one of the storage. The service may run meanwhile.
Exit status: 0 for success, 1 if the storage fails or there is no such entry, 2 for a wrong path or configuration.`;

type Flags = Pick<TrashFlags, "config" | "json" | "to">;

/** Adds `trash list`, `restore`, `purge` and `sweep` to the command. */
export function addTrashCommands(program: Command): void {
  const trash = program
    .command("trash")
    .description("list, restore or remove for good what was deleted")
    .addHelpText("after", trashHelp);

  function addVerb(name: TrashFlags["verb"], description: string): Command {
    return trash
      .command(name)
      .description(description)
      .requiredOption("--config <file>", "the configuration file of the service");
  }

  async function run(flags: TrashFlags): Promise<void> {
    const { runTrashCommand } = await import("./commands/all-but-serve.ts");
    await runTrashCommand(flags, process);
  }

  addVerb("list", "list what was deleted below a folder, the newest first")
    .argument("[path]", "a folder of the storage, such as /alice", "/")
    .option("--json", "print JSON")
    .action((path: string, flags: Flags) => run({ ...flags, verb: "list", path }));
  addVerb("restore", "move an entry back to its path, or to another one")
    .argument("<id>", "the ID of an entry")
    .option("--to <path>", "another path of the storage")
    .action((id: string, flags: Flags) => run({ ...flags, verb: "restore", ids: [id] }));
  addVerb("purge", "remove entries for good")
    .argument("<id...>", "the IDs of entries")
    .action((ids: string[], flags: Flags) => run({ ...flags, verb: "purge", ids }));
  addVerb("sweep", "remove for good what is too old or too much").action((flags: Flags) =>
    run({ ...flags, verb: "sweep" }),
  );
}
