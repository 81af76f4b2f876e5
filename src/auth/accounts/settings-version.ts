import type { AccountSettings } from "../../contracts/account.ts";
import type { AccountTotp } from "../../contracts/sign-on/second-factor.ts";
import type { Hmac } from "../../platform/hmac.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { isPasswordHash } from "../passwords/hash.ts";

/** The version of an account: each change of the account makes another one. Sessions keep it, and end with it. */
export interface SettingsVersion {
  /** Returns the account's {@link toVersion}; for a plain-text password it also has the password's tag. */
  version(): string;
  /** Whether a version, also one of another process, is that of this account. */
  isCurrent(version: string): boolean;
}

/** What an account's version depends on. */
export interface VersionedAccount {
  readonly username: string;
  readonly settings: AccountSettings;
  readonly password: string;
  readonly totp: AccountTotp | undefined;
}

/**
 * Creates the version of an account. For a plain-text password it has a tag of the password that only this process
 * can compute and compare: in this process also a change from one plain-text password to another makes a version
 * outdated. `keyedDigest` has a key that only this process knows.
 */
export function createSettingsVersion(
  { username, settings, password, totp }: VersionedAccount,
  keyedDigest: Hmac,
): SettingsVersion {
  const digest = toVersion(settings, password, totp);
  if (isPasswordHash(password)) return { version: () => digest, isCurrent: (version) => version === digest };
  let tag: string | undefined;
  // Not before the first login: `keyedDigest` makes its key then.
  const toTag = (): string => {
    tag ??= `${keyedDigest("").slice(0, 16)} ${keyedDigest(`${username}\n${password}`)}`;
    return tag;
  };
  const toOwnVersion = (): string => `${digest} ${toTag()}`;
  return {
    version: toOwnVersion,
    isCurrent(version) {
      if (version === toOwnVersion()) return true;
      const [ofAccount, ofProcess, ofPassword] = version.split(" ");
      if (ofAccount !== digest) return false;
      const [ownProcess, ownPassword] = toTag().split(" ");
      return ofProcess !== ownProcess || ofPassword === ownPassword;
    },
  };
}

/**
 * Returns a digest of an account's settings, of its password hash and of the secret of its one-time passwords. A
 * plain-text password is left out: a reader of the session store could guess it from the digest. A hash is safe because
 * its salt cannot be guessed. Recovery codes are left out: their use must end no session.
 */
export function toVersion(settings: AccountSettings, password: string, totp?: AccountTotp): string {
  const secrets = totp === undefined ? [] : [totp.secret];
  return sha256Hex(JSON.stringify([settings, isPasswordHash(password) ? password : null, ...secrets]));
}
