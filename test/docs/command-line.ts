import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectFolder } from "../support/built.ts";
import { findOptionFault } from "./shell.ts";

/** What is wrong with the words that start the installed command by Node, as a system's configuration has them. */
export async function findCommandLineFault(words: readonly string[]): Promise<string | undefined> {
  const [program = "", script = "", ...args] = words;
  const { bin } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const installed = join("node_modules/fileferry", bin.fileferry);
  if (basename(program) !== "node") return `${program}: is not Node`;
  if (script !== installed && !script.endsWith(`/${installed}`)) return `${script}: is not ${installed}`;
  return findOptionFault(args);
}
