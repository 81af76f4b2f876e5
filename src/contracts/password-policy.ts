/** Kinds of characters; `symbol` is whatever is none of the others. */
export const CHARACTER_CLASSES = ["lowercase", "uppercase", "digit", "symbol"] as const;

/**
 * A kind of characters; `symbol` is whatever is none of the others.
 *
 * @useDeclaredType
 */
export type CharacterClass = (typeof CHARACTER_CLASSES)[number];

/**
 * What a new password must be (4.1). Beyond these rules it is never the current one, has at most 1,024 bytes as UTF-8, and holds no control
 * characters, which HTTP Basic cannot carry (RFC 7617 2).
 */
export interface PasswordPolicy {
  /** Characters (code points) at least. Default: 12. */
  readonly minLength?: number;
  /** Characters at most. Default: as many as go into 1,024 bytes. */
  readonly maxLength?: number;
  /** Each of these kinds occurs at least once. Default: none, as length is worth more. */
  readonly requireClasses?: readonly CharacterClass[];
  /** Whether it may hold the user name. Names of one or two characters may stand in it, but not be it. Default: false. */
  readonly allowUserName?: boolean;
  /**
   * Estimates the strength of a password, as a number that grows with it; `hints` are words that anybody would try first for this account.
   * It gets the first 100 characters, as estimators are slow on long ones. For the scores 0 to 4 of `@zxcvbn-ts/core`:
   * `(password, hints) => zxcvbn(password, [...hints]).score`. Default: none.
   */
  readonly estimate?: (password: string, hints: readonly string[]) => number | Promise<number>;
  /** The estimate must come to this at least. Default: 3. */
  readonly minEstimate?: number;
}
