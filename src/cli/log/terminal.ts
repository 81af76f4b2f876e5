import type { WriteStream } from "node:tty";
import pc from "picocolors";
import type { Logger } from "../../contracts/logger.ts";

/** Where the command writes. `process.stdout` and `process.stderr` are two. */
export type Output = Pick<NodeJS.WritableStream, "write"> & Partial<Pick<WriteStream, "isTTY">>;

/** Colours for one output: none when it is no terminal, or the user wants none (`NO_COLOR`). */
export function colorsOf(output: Output): ReturnType<typeof pc.createColors> {
  const { NO_COLOR, TERM } = process.env;
  return pc.createColors(output.isTTY === true && !NO_COLOR && TERM !== "dumb");
}

/**
 * A text of unknown origin as printable ASCII on one line: what is not becomes `\xNN` or `\u{N}`, a backslash two. So a
 * client forges no line of the log and steers no terminal.
 */
export function escapeText(text: string): string {
  return text.replace(/[^ -[\]-~]/gu, (character) => {
    if (character === "\\") return "\\\\";
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** A text of ours on one line: line breaks become blanks, other control characters go. */
export function escapeLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/\p{Cc}/gu, "");
}

/** A log of one line a message, details as JSON behind it. `quiet` leaves out what is neither a warning nor an error. */
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
  // A cycle or a BigInt: the message alone.
  return text === undefined ? "" : ` ${text}`;
}

/** Details as JSON of printable ASCII, with what errors have to say; `undefined` for what JSON cannot hold. */
export function toJsonText(details: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return escapeJson(JSON.stringify(details, (_key, value: unknown) => toPlain(value)));
  } catch {
    return undefined;
  }
}

/** Errors have no own members that JSON would show; here their stacks belong, in the operator's log. */
function toPlain(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return {
    ...value,
    stack: value.stack ?? value.message,
    ...(value.cause === undefined ? {} : { cause: value.cause }),
  };
}

/** JSON text that is printable ASCII: the same value, for any terminal. */
function escapeJson(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
