import leven from "leven";

/** The most letters that a mistyped name differs in. */
const MAX_TYPOS = 2;

/** An option has a wrong value. The message names the option, and never quotes a secret. */
export class OptionError extends TypeError {
  /** The option with its path, such as `limits.maxFileBytes` or `url[1]`. */
  readonly option: string;
  /** What the option must be, such as `a whole number`. */
  readonly expected: string;

  constructor(option: string, expected: string, options?: ErrorOptions) {
    super(`The option ${option} must be ${expected}.`, options);
    this.name = "OptionError";
    this.option = option;
    this.expected = expected;
  }
}

/** Checks one option. @throws OptionError if the condition does not hold. */
export function checkOption(holds: boolean, option: string, expected: string): asserts holds {
  if (!holds) throw new OptionError(option, expected);
}

/** Whether an option is a whole number between two limits, both included. */
export function isWholeNumber(value: number, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

/**
 * Checks that an object has no option of an unknown name. `path` is written before the name, such as `limits.`.
 * @throws OptionError with the name, and with the one that was probably meant.
 */
export function checkNames(value: object, names: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = findMeant(unknown, names);
  const hint = meant === undefined ? "" : ` (did you mean ${path}${meant}?)`;
  throw new OptionError(path + unknown, `left out: it is not a known option${hint}`);
}

function findMeant(mistyped: string, names: readonly string[]): string | undefined {
  const toDistance = (name: string) => leven(mistyped.toLowerCase(), name.toLowerCase());
  const [nearest] = names.toSorted((one, other) => toDistance(one) - toDistance(other));
  return nearest !== undefined && toDistance(nearest) <= MAX_TYPOS ? nearest : undefined;
}
