import type { Logger } from "../../contracts/logger.ts";
import { type Output, toJsonText } from "./terminal.ts";

/** A log of one JSON object a line, for what collects logs: `time`, `level`, `message`, and the details beside them. `quiet` leaves out what is neither a warning nor an error. */
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
