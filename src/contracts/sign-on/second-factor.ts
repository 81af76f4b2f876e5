/**
 * The one-time passwords of an account (RFC 6238), as an accounts file has them. The names are in snake_case because it
 * has.
 */
export interface AccountTotp {
  /** The secret that the account shares with an authenticator app, in Base32 without padding: 26 characters or more. */
  readonly secret: string;
  /**
   * The recovery codes that are left, each as the SHA-256 of its text without hyphens, as 64 lower-case hexadecimal
   * digits. Default: none.
   */
  readonly recovery_codes?: readonly string[];
}

/**
 * What a login needs in addition to the right password: a one-time password by HMAC-SHA-1, of 6 digits, for steps of 30
 * seconds, or a recovery code. The service verifies it.
 */
export interface SecondFactor {
  readonly totp: AccountTotp;
  /**
   * Uses a recovery code up, one of `totp.recovery_codes`. Of two concurrent calls only one returns true. Absent: the
   * service remembers the use in its store of failed logins.
   */
  useRecoveryCode?(sha256: string): Promise<boolean>;
}
