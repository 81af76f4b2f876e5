import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { describeSystemError } from "./failure.ts";

/**
 * Why a file cannot be written, or made if there is none; `undefined` if it can. It makes nothing: another user may run
 * a command on the configuration of the service, and would own the file. A named pipe waits for its reader, so it is no
 * file that can be written.
 */
export async function findWriteProblem(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path).catch(undefinedIfMissing);
    if (found !== undefined && !found.isFile()) return "is not a regular file";
    await access(found === undefined ? dirname(path) : path, constants.W_OK);
    return undefined;
  } catch (error) {
    return `cannot be written: ${describeSystemError(error)}`;
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
