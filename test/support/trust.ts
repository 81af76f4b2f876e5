import { appendFileSync } from "node:fs";
import { areMutants } from "./timed.ts";

/** Something that a suite counted or measured, for the report of `npm run trust` and docs/security.md. */
export interface Figure {
  /** The row it stands in, such as `Kills of the process`; a row may have several figures, of several suites. */
  readonly row: string;
  /** What was counted or measured, such as `trials`. */
  readonly what: string;
  readonly value: number;
  /** The unit of {@link value}, such as `ms` or `MiB`. Absent for a count. */
  readonly unit?: string;
  /** The bound, in words: `at most 50`. The test asserts it. */
  readonly bound?: string;
}

/** Where figures are written, a line of JSON each; only `npm run trust` asks for them. */
const report = process.env.TRUST_REPORT || undefined;

/** How much of something is tried. */
export interface Amounts {
  /** By `npm test` and `npm run check`. */
  readonly short: number;
  /** In CI: where `CI` is set, as `.ci/run` sets it. Default: `short`. */
  readonly ci?: number;
  /** By `npm run trust`, and on mutants. */
  readonly long: number;
}

/** Returns how much of something this run tries. */
export function amount({ short, ci = short, long }: Amounts): number {
  if (report !== undefined || areMutants) return long;
  return process.env.CI ? ci : short;
}

/** Adds a figure to the report, if one is made. */
export function reportFigure(figure: Figure): void {
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(figure)}\n`);
}
