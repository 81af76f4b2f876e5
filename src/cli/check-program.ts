import type { Command } from "commander";
import type { DoctorFlags } from "./commands/doctor.ts";
import type { SweepFlags } from "./commands/sweep.ts";

const checkHelp = `
It changes nothing, and asks no other machine. Each finding is a line that begins with ok, warning or error.
Exit status: 0 without errors; 2 if the service would not start, or an account of a file can never log in;
1 for another error, such as an expired certificate.`;

const doctorHelp = `
Examples:
  fileferry doctor --config fileferry.json
  fileferry doctor --config fileferry.json --url https://files.example

Run it as the user of the service. It writes and removes files and values of its own.
Stop the service before you use --url: the command then listens in its place, and sends requests to that address.
Exit status: 0 if all works, 1 if something does not, 2 for a wrong flag or configuration.`;

/** Adds `check`, `doctor` and `sweep` to the command. `endWith` gets the exit status. */
export function addCheckCommands(program: Command, endWith: (status: number) => void): void {
  program
    .command("check")
    .description("check a configuration file and print what it would serve")
    .requiredOption("--config <file>", "the configuration file of the service")
    .addHelpText("after", checkHelp)
    .action(async ({ config }: { readonly config: string }) => {
      const { checkConfiguration } = await import("./commands/all-but-serve.ts");
      endWith(await checkConfiguration(config, process));
    });
  program
    .command("doctor")
    .description("try the storage, the stores, the clock and the proxy of a configuration")
    .requiredOption("--config <file>", "the configuration file of the service")
    .option("--url <url>", "the address of the service as clients have it")
    .addHelpText("after", doctorHelp)
    .action(async (flags: DoctorFlags) => {
      const { runDoctor } = await import("./commands/all-but-serve.ts");
      endWith(await runDoctor(flags, process));
    });
  program
    .command("sweep")
    .description("remove what has expired, as the running service does by itself")
    .requiredOption("--config <file>", "the configuration file of the service")
    .option("--dry-run", "print the files that the key retention would remove, and remove nothing")
    .action(async (flags: SweepFlags) => {
      const { runSweep } = await import("./commands/all-but-serve.ts");
      await runSweep(flags, process);
    });
}
