import { inspect } from "node:util";
import type { Logger } from "../../src/contracts/logger.ts";
import { watchText } from "./secrets/secrets.ts";

/** A logger that keeps its entries. After each test they are searched for secrets. */
export interface RecordingLogger extends Logger {
  readonly entries: readonly { readonly level: string; readonly message: string; readonly details: object }[];
  /** All entries with everything in them, causes and stacks included. */
  text(): string;
}

export function createRecordingLogger(): RecordingLogger {
  const entries: { level: string; message: string; details: object }[] = [];
  const recordAs = (level: string) => (details: object, message: string) => {
    entries.push({ level, message, details });
  };
  const text = () => inspect(entries, { depth: 10, maxStringLength: null });
  watchText(text);
  return {
    entries,
    info: recordAs("info"),
    warn: recordAs("warn"),
    error: recordAs("error"),
    text,
  };
}
