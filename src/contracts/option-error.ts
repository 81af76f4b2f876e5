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
