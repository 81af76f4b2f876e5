import { closeSync, openSync, writeSync } from "node:fs";
import { createFailure, describeSystemError } from "../failure.ts";
import type { Output } from "./terminal.ts";

/** Where the log goes: an output, or a file that other programs may move away. */
export interface LogOutput extends Output {
  /** Writes to a file from now on. Throws a failure of status 2 if it cannot be written. */
  useFile(file: string): void;
  /**
   * Opens the path again, after logrotate has moved the file. If that fails, the log goes on in the moved file. Returns
   * the reason then.
   */
  reopen(): string | undefined;
}

/** Creates the output of a log. Without a file it writes to `fallback`, such as `process.stderr`. */
export function createLogOutput(fallback: Output): LogOutput {
  let used: { readonly path: string; readonly descriptor: number } | undefined;

  function write(text: string | Uint8Array): boolean {
    if (used === undefined) return fallback.write(text);
    try {
      writeSync(used.descriptor, text as string);
    } catch {
      // A full disk must not end the service.
    }
    return true;
  }

  function use(path: string): void {
    const descriptor = openSync(path, "a", 0o640);
    if (used !== undefined) closeSync(used.descriptor);
    used = { path, descriptor };
  }

  function useFile(path: string): void {
    try {
      use(path);
    } catch (error) {
      throw createFailure(2, [`error: the log file ${path} cannot be written: ${describeSystemError(error)}`]);
    }
  }

  return {
    write: write as Output["write"],
    get isTTY() {
      return used === undefined && fallback.isTTY === true;
    },
    useFile,
    reopen() {
      try {
        if (used !== undefined) use(used.path);
        return undefined;
      } catch (error) {
        return describeSystemError(error);
      }
    },
  };
}
