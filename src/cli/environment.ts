import type { Command, Option } from "commander";
import { createFailure } from "./failure.ts";
import { WORKER_PORT } from "./workers/messages.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The words of a variable that leave a flag without a value off. */
const OFF: readonly string[] = ["", "0", "false", "no", "off"];

/**
 * What Kubernetes and Docker set for a service of the name `fileferry`, such as `FILEFERRY_PORT=tcp://10.0.0.1:80`.
 * These are not meant for this command.
 */
const SERVICE_URL = /^(?:tcp|udp|sctp):\/\//;
const SERVICE_VARIABLE = /_SERVICE_(?:HOST|PORT)|_PORT(?:_|$)/;

/** The variables that are no flags. */
const OTHERS: readonly string[] = ["FILEFERRY_FOLDER", "FILEFERRY_LINKS_SECRET", WORKER_PORT];

/** A command and one of its flags. */
interface Flag {
  readonly command: Command;
  readonly option: Option;
}

/**
 * Gives every flag of a program and its subcommands a variable of the environment, such as `FILEFERRY_LOG_FORMAT` for
 * `--log-format`. The flag itself wins. If a flag means something else in another command, only that of `serve` has
 * the variable: the account of `FILEFERRY_ACCOUNT` has a password, which no other command may print.
 */
export function addEnvironment(program: Command, environment: Environment): void {
  for (const { command, option } of listFlags(program)) {
    const variable = toVariable(option);
    const value = environment[variable] ?? "";
    const isOff = option.isBoolean() ? OFF.includes(value.toLowerCase()) : value === "" || SERVICE_URL.test(value);
    if (isOff) continue;
    option.env(variable);
    // Commander listens to variables only of options that have them when they are added.
    command.on(`optionEnv:${option.name()}`, (given: unknown) => {
      (command as unknown as NodeJS.EventEmitter).emit(`option:${option.name()}`, given);
      const key = option.attributeName();
      command.setOptionValueWithSource(key, command.getOptionValue(key), "env");
    });
  }
}

/**
 * Takes the variable of a flag back if the command line has a flag that excludes it. Call it before the action.
 * @throws a failure of status 2 that names the variables, if both flags are variables.
 */
export function overrideVariables(command: Command, pairs: readonly (readonly [string, string])[]): void {
  for (const pair of pairs) {
    const sources = pair.map((key) => command.getOptionValueSource(key));
    if (sources.every((source) => source === "env")) {
      const [one, other] = pair.map((key) => command.options.find((option) => option.attributeName() === key)?.envVar);
      throw createFailure(2, [`error: ${one} and ${other} cannot be used together`]);
    }
    if (sources.includes("cli")) for (const key of pair) dropVariable(command, key);
  }
}

/** Takes back what a variable has set, so that the flag has its default. */
export function dropVariable(command: Command, key: string): void {
  if (command.getOptionValueSource(key) !== "env") return;
  const option = command.options.find((each) => each.attributeName() === key);
  command.setOptionValueWithSource(key, option?.defaultValue, "default");
}

/** The variables of the environment that look like those of a program, and are not: perhaps they are mistyped. */
export function findUnknownVariables(program: Command, environment: Environment): readonly string[] {
  const known = new Set([...OTHERS, ...listFlags(program).map(({ option }) => toVariable(option))]);
  return Object.keys(environment).filter(
    (name) => name.startsWith("FILEFERRY_") && !known.has(name) && !SERVICE_VARIABLE.test(name),
  );
}

/** The flags that have variables. */
function listFlags(program: Command): readonly Flag[] {
  const flags = listAllFlags(program).filter(({ option }) => option.long !== "--version");
  const meanings = new Map<string, Set<string>>();
  for (const { option } of flags) {
    const name = option.name();
    meanings.set(name, (meanings.get(name) ?? new Set()).add(option.flags));
  }
  return flags.filter(({ command, option }) => command.name() === "serve" || meanings.get(option.name())?.size === 1);
}

function listAllFlags(command: Command): readonly Flag[] {
  const own = command.options.map((option) => ({ command, option }));
  return [...own, ...command.commands.flatMap(listAllFlags)];
}

function toVariable(option: Option): string {
  return `FILEFERRY_${option.name().toUpperCase().replaceAll("-", "_")}`;
}
