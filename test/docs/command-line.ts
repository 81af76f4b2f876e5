import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectFolder } from "../support/built.ts";
import { findOptionFault } from "./shell.ts";

/** What is wrong with the words that start the installed command by Node, as a system's configuration has them. */
export async function findCommandLineFault(words: readonly string[]): Promise<string | undefined> {
  const [program = "", ...others] = words;
  const start = others.findIndex((word) => !word.startsWith("--"));
  const [flags, [script = "", ...args]] = [others.slice(0, start), others.slice(start)];
  const { bin } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const installed = join("node_modules/fileferry", bin.fileferry);
  if (basename(program) !== "node") return `${program}: is not Node`;
  const unknown = flags.find((flag) => !process.allowedNodeEnvironmentFlags.has(flag.replace(/=.*/, "")));
  if (unknown !== undefined) return `${unknown}: is no flag of Node`;
  if (script !== installed && !script.endsWith(`/${installed}`)) return `${script}: is not ${installed}`;
  return findOptionFault(args);
}
