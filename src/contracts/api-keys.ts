import { type AccountSettings, PERMISSION_VALUES, type PermissionValue } from "./account.ts";

/** What an API key can permit: the permissions of accounts, but for the value that denies everything. */
export const KEY_PERMISSIONS = PERMISSION_VALUES.filter(
  (value): value is KeyPermission => value !== "deny-full-control",
);

/** One of {@link KEY_PERMISSIONS}. */
export type KeyPermission = Exclude<PermissionValue, "deny-full-control">;

/**
 * An API key of an account, as it is kept. The key itself is the text `ff_<id>_<secret>`, of which only the SHA-256 is
 * kept. The names are in snake_case because accounts files have them.
 */
export interface ApiKey {
  /** 16 lower-case hexadecimal digits. It is no secret: events and lists have it. */
  readonly id: string;
  /** Up to 200 characters for the owner of the key. Default: the empty text. */
  readonly label?: string;
  /** The SHA-256 of the whole text of the key, as 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** What the key permits at most. It never permits more than its account has. Default: all that the account has. */
  readonly permissions?: readonly KeyPermission[];
  /** The file or folder, as the account sees it, that the key is for: everything else is denied. Default: `/`. */
  readonly path?: string;
  /** POSIX seconds. */
  readonly created_at: number;
  /** POSIX seconds; from then on the key is refused. Default: it does not expire. */
  readonly expires_at?: number;
}

/** A key with its account. */
export interface FoundKey {
  readonly username: string;
  /** The settings that the account has now, as a login has them. */
  readonly account: AccountSettings;
  readonly key: ApiKey;
}

/**
 * Where an authentication method keeps the API keys of its accounts. The service makes the keys, verifies them and
 * decides what they permit. A result may be a second old. If a method rejects, the response is 503.
 */
export interface AccountKeys {
  /** Returns the key with an ID; `undefined` if there is none, or if its account may not log in. */
  find(id: string): Promise<FoundKey | undefined>;
  /** Returns the keys of an account, expired ones too; `undefined` if the account is not of this method. */
  list(username: string): Promise<readonly ApiKey[] | undefined>;
  /** Keeps a new key of an account. Returns whether the account is there. Absent: keys are made elsewhere. */
  add?(username: string, key: ApiKey): Promise<boolean>;
  /** Removes a key of an account. Returns whether it was there. Absent if `add` is. */
  remove?(username: string, id: string): Promise<boolean>;
}
