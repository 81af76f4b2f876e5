import { InvalidArgumentError } from "commander";
import { findFormatProblem, type LogFormat } from "./log/format.ts";

/*
 * The values of flags. Each function throws `InvalidArgumentError` with the reason for a wrong one.
 */

/** The values of a flag that may be repeated. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

export function parseHost(text: string): string {
  if (text === "") throw new InvalidArgumentError("expected a host name or an address");
  return text;
}

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError("expected 0 to 65535");
  return Number(text);
}

export function parseLogFormat(text: string): LogFormat {
  const problem = findFormatProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return text as LogFormat;
}

export function parseSeconds(text: string): number {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(text) || !(Number(text) > 0)) throw new InvalidArgumentError("expected seconds");
  return Number(text);
}

/** Seconds, or 0 for no deadline. */
export function parseDeadline(text: string): number {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError("expected seconds, or 0");
  return Number(text);
}

/** The number of workers; `true` for one per core. */
export function parseWorkers(text: string): number | true {
  if (text === "auto") return true;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError("expected 1 to 999, or auto");
  return Number(text);
}
