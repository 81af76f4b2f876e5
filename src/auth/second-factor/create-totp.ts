import type { AccountTotp } from "../../contracts/sign-on/second-factor.ts";
import { createRecoveryCodes, hashRecoveryCode } from "./recovery-codes.ts";
import { createTotpSecret, toTotpUrl } from "./totp.ts";

/** What an authenticator app shows. */
export interface TotpNames {
  readonly username: string;
  /** The name of the service. Default: `fileferry`. */
  readonly issuer?: string;
}

/** New one-time passwords of an account. */
export interface CreatedTotp {
  /** What is kept. The secret in it must be readable by the service alone. */
  readonly totp: AccountTotp;
  /** The `otpauth://` URL for the authenticator app, with the secret: shown once, mostly as a QR code. */
  readonly url: string;
  /** Each of them works once in place of a one-time password: secrets that are kept nowhere, and shown once. */
  readonly recoveryCodes: readonly string[];
}

/** Makes the one-time passwords of an account, for applications that keep their accounts. */
export function createTotp({ username, issuer = "fileferry" }: TotpNames): CreatedTotp {
  const secret = createTotpSecret();
  const recoveryCodes = createRecoveryCodes();
  return {
    totp: { secret, recovery_codes: recoveryCodes.map(hashRecoveryCode) },
    url: toTotpUrl(secret, username, issuer),
    recoveryCodes,
  };
}
