import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program is installed here, and what a test's name says if it is not. */
export function findProgram(name: string): { readonly missing: boolean; readonly reason: string } {
  if ((process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name)))) {
    return { missing: false, reason: "" };
  }
  const reason = `${name} is not installed`;
  if (process.env.CI) throw new Error(reason);
  process.stderr.write(`Not tested: ${reason}\n`);
  return { missing: true, reason: ` (${reason})` };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
