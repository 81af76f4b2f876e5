/** The kinds of characters. `symbol` is any character of no other kind. */
export const CHARACTER_CLASSES = ["lowercase", "uppercase", "digit", "symbol"] as const;

/**
 * A kind of characters. `symbol` is any character of no other kind.
 *
 * @useDeclaredType
 */
export type CharacterClass = (typeof CHARACTER_CLASSES)[number];

/**
 * The rules for new passwords (4.1). In addition to them, a new password must differ from the current one and have at
 * most 1,024 bytes in UTF-8. It must not hold control characters, which HTTP Basic cannot carry (RFC 7617 2).
 */
export interface PasswordPolicy {
  /** Minimum number of characters (code points). Default: 12. */
  readonly minLength?: number;
  /** Maximum number of characters. Default: as many as fit into 1,024 bytes. */
  readonly maxLength?: number;
  /** The kinds of which each must occur at least once. Default: none, because length is worth more. */
  readonly requireClasses?: readonly CharacterClass[];
  /**
   * Whether the password may contain the user name. User names of one or two characters may always be part of it, but
   * it may never be equal to one of them. Default: false.
   */
  readonly allowUserName?: boolean;
  /**
   * Estimates the strength of a password as a number that grows with it. `hints` are words that an attacker would try
   * first for this account. The function gets the first 100 characters, because estimators are slow for long passwords.
   * For the scores 0 to 4 of `@zxcvbn-ts/core`: `(password, hints) => zxcvbn(password, [...hints]).score`. Default:
   * none.
   */
  readonly estimate?: (password: string, hints: readonly string[]) => number | Promise<number>;
  /** The minimum estimate. Default: 3. */
  readonly minEstimate?: number;
}
