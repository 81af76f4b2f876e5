import type { WriteStream } from "node:tty";
import pc from "picocolors";
import type { Logger } from "../../contracts/logger.ts";

/** An output of the command, such as `process.stdout`. */
export type Output = Pick<NodeJS.WritableStream, "write"> & Partial<Pick<WriteStream, "isTTY">>;

/** The colours of an output. There are none if it is not a terminal, or the user does not want colours (`NO_COLOR`). */
export function colorsOf(output: Output): ReturnType<typeof pc.createColors> {
  const { NO_COLOR, TERM } = process.env;
  return pc.createColors(output.isTTY === true && !NO_COLOR && TERM !== "dumb");
}

/**
 * Escapes an untrusted text as printable ASCII on one line: other characters become `\xNN` or `\u{N}`, a backslash
 * becomes two. So a client can neither forge a log line nor control the terminal.
 */
export function escapeText(text: string): string {
  return text.replace(/[^ -[\]-~]/gu, (character) => {
    if (character === "\\") return "\\\\";
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** Puts a text of the program on one line: line breaks become blanks, other control characters are removed. */
export function escapeLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/\p{Cc}/gu, "");
}

/**
 * Creates a log with one line per message, which ends with the details as JSON. `quiet` drops lines of level `info`.
 */
export function createTerminalLogger(output: Output, { quiet }: { readonly quiet: boolean }): Logger {
  const colors = colorsOf(output);

  function print(level: string, details: Readonly<Record<string, unknown>>, message: string): void {
    output.write(`${level}: ${message}${describeDetails(details)}\n`);
  }

  return {
    info: (details, message) => (quiet ? undefined : print("info", details, message)),
    warn: (details, message) => print(colors.yellow("warning"), details, message),
    error: (details, message) => print(colors.red("error"), details, message),
  };
}

function describeDetails(details: Readonly<Record<string, unknown>>): string {
  if (Object.keys(details).length === 0) return "";
  const text = toJsonText(details);
  // JSON cannot hold a cycle or a BigInt: only the message is logged then.
  return text === undefined ? "" : ` ${text}`;
}

/** Details as JSON in printable ASCII, including the stacks of errors; `undefined` if JSON cannot hold them. */
export function toJsonText(details: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return escapeJson(JSON.stringify(details, (_key, value: unknown) => toPlain(value)));
  } catch {
    return undefined;
  }
}

/**
 * Stack and cause of an error are not enumerable, so JSON would drop them. The operator's log is the place for stacks.
 */
function toPlain(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return {
    ...value,
    stack: value.stack ?? value.message,
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}

/** Escapes JSON text to printable ASCII. Its value stays, and it is safe for any terminal. */
function escapeJson(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
