import { failureOf } from "./failure.ts";
import { colorsOf, escapeLine, type Output } from "./log/terminal.ts";

/** What a check has found about a part of the service: one line, with what to do if it is not ok. */
export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly about: string;
  readonly text: string;
  /** What the operator should do. */
  readonly advice?: string;
  /** The exit status of the command for an error; 2 if the service would end with it, too. Default: 1. */
  readonly exitStatus?: 1 | 2;
}

export function ok(about: string, text: string): Finding {
  return { level: "ok", about, text };
}

export function warning(about: string, text: string, advice?: string): Finding {
  return { level: "warning", about, text, ...(advice !== undefined && { advice }) };
}

export function problem(about: string, text: string, advice?: string): Finding {
  return { level: "error", about, text, ...(advice !== undefined && { advice }) };
}

/** An error of the configuration, with which the service would end. */
export function invalid(about: string, text: string): Finding {
  return { level: "error", about, text, exitStatus: 2 };
}

/** The findings for an error that the user can fix. Any other error is thrown again. */
export function toFindings(error: unknown): readonly Finding[] {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  const { problems, exitStatus } = failure;
  return problems.map((text) => ({ ...problem("configuration", text.replace(/^error: /, "")), exitStatus }));
}

/**
 * Prints findings as they come, a line each. Resolves with the exit status: 2 if the configuration is wrong, else 1 if
 * there is an error.
 */
export async function printFindings(findings: AsyncIterable<Finding>, output: Output): Promise<0 | 1 | 2> {
  const colors = colorsOf(output);
  const paint = { ok: colors.green, warning: colors.yellow, error: colors.red };
  let status: 0 | 1 | 2 = 0;
  for await (const { level, about, text, advice, exitStatus = 1 } of findings) {
    if (level === "error" && exitStatus > status) status = exitStatus;
    const line = escapeLine(`${about}: ${text}${advice === undefined ? "" : `: ${advice}`}`);
    output.write(`${paint[level](level)}: ${line}\n`);
  }
  return status;
}
