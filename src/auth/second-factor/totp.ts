import { Secret, TOTP } from "otpauth/dist/otpauth.slim.esm.js";

/** What authenticator apps support without exception (RFC 6238): HMAC-SHA-1, 6 digits, 30 seconds. */
const SETTINGS = { algorithm: "SHA1", digits: 6, period: 30 } as const;
const STEP_MS = 30_000;
/** A code also counts one step before and after its own, as clocks differ (RFC 6238 5.2). */
const WINDOW = 1;
/** The length of the HMAC's digest (RFC 4226 4, R6). */
const SECRET_BYTES = 20;

/** Whether a text can be a one-time password, and not a recovery code. */
export function isOneTimePassword(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

/**
 * Returns the time step of a one-time password, to accept each step once; `undefined` for a wrong one. `secret` is
 * Base32, `now` is milliseconds since the epoch.
 */
export function findStep(secret: string, password: string, now: number): number | undefined {
  const given = { ...SETTINGS, secret: Secret.fromBase32(secret), token: password };
  const delta = TOTP.validate({ ...given, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / STEP_MS) + delta;
}

/** Makes a random secret in Base32. */
export function createTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the `otpauth://` URL that authenticator apps read from a QR code. It contains the secret. */
export function toTotpUrl(secret: string, username: string, issuer: string): string {
  return String(new TOTP({ ...SETTINGS, secret: Secret.fromBase32(secret), label: username, issuer }));
}
