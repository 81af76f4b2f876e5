import type { Logger } from "../../contracts/logger.ts";
import { type Output, toJsonText } from "./terminal.ts";

/**
 * Creates a log with a JSON object on each line: `time`, `level`, `message` and the details. `quiet` drops lines of
 * level `info`.
 */
export function createJsonLogger(output: Output, { quiet }: { readonly quiet: boolean }): Logger {
  function print(level: string, details: Readonly<Record<string, unknown>>, message: string): void {
    const own = { time: new Date().toISOString(), level, message };
    output.write(`${toJsonText({ ...details, ...own }) ?? toJsonText(own)}\n`);
  }

  return {
    info: (details, message) => (quiet ? undefined : print("info", details, message)),
    warn: (details, message) => print("warn", details, message),
    error: (details, message) => print("error", details, message),
  };
}
