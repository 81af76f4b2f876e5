import type { AccountSettings } from "./account.ts";

/** What a link can permit. Renaming, moving and setting attributes are never among it. */
export const LINK_PERMISSIONS = [
  "allow-read",
  "allow-list",
  "allow-traverse",
  "allow-write",
  "allow-create-folder",
  "allow-delete-file",
  "allow-delete-folder",
] as const;

/**
 * One of {@link LINK_PERMISSIONS}.
 *
 * @useDeclaredType
 */
export type LinkPermission = (typeof LINK_PERMISSIONS)[number];

/** What a new link is to be (SHARING 3, 11). */
export interface NewLink {
  /** The account whose files the link leads to. */
  readonly username: string;
  /**
   * The settings of the account, for accounts that no authentication method can look up. They count for the life of the
   * link. Default: the authentication methods are asked, now and at every request.
   */
  readonly settings?: AccountSettings;
  /** The path of a file or folder as the account sees it, such as `/reports/a.csv`; `/` is the account's root. */
  readonly path: string;
  /** Default: `["allow-read", "allow-list"]`, for a file `["allow-read"]`. */
  readonly permissions?: readonly LinkPermission[];
  /** Seconds. Default: `links.defaultSeconds`. */
  readonly expiresIn?: number;
  /** 1 to 1,024 bytes. Only a hash of it is kept. Default: none. */
  readonly password?: string;
  /**
   * How many files or archives may be downloaded, and files uploaded, in total: 1 to 1,000,000. It needs `links.store`.
   * Default: no limit.
   */
  readonly maxUses?: number;
  /** The maximum size of an uploaded file, in bytes. The limit of the account applies as well. Default: no limit. */
  readonly maxFileBytes?: number;
  /** Whether senders have to give a name, which becomes a part of the file's name. Default: false. */
  readonly askName?: boolean;
  /** Up to 200 characters for the owner of the link. Visitors do not see it. Default: the empty text. */
  readonly label?: string;
}

/** A link that is not over. It never has a password or its hash. */
export interface Link {
  /** 32 hexadecimal digits. It opens nothing. */
  readonly id: string;
  readonly path: string;
  readonly isFolder: boolean;
  /** The path of the URL of the link's page, which ends in `/`. A secret: it is the link. */
  readonly urlPath: string;
  /** The path of the URL of the file. Absent for folders. */
  readonly filePath?: string;
  /** The URL of the link's page. Absent without the option `publicOrigin`. */
  readonly url?: string;
  /** The URL of the file. Absent for folders and without the option `publicOrigin`. */
  readonly fileUrl?: string;
  readonly permissions: readonly LinkPermission[];
  readonly created: Date;
  readonly expires: Date;
  readonly hasPassword: boolean;
  /** How many uses were taken. Always 0 without `maxUses`. */
  readonly uses: number;
  readonly maxUses?: number;
  readonly maxFileBytes?: number;
  readonly askName: boolean;
  readonly label: string;
}

/**
 * The links of a service. Every method rejects with HttpError `unprocessable` without the option `links`; `list`,
 * `revoke` and `revokeAll` also without `links.store`. They reject with HttpError `unavailable` if the store fails.
 */
export interface Links {
  /**
   * Makes a link. Rejects with HttpError: `malformed` for an invalid value, `not-found` if nothing is at the path,
   * `denied` if the account may not give what the link is to permit, `unprocessable` if a limit forbids the link.
   */
  create(link: NewLink): Promise<Link>;
  /** The links of exactly this name, newest first. */
  list(username: string): Promise<readonly Link[]>;
  /** Withdraws a link. Returns whether it was one. */
  revoke(id: string): Promise<boolean>;
  /**
   * Withdraws all links of an account. Returns how many. Links with `settings` are withdrawn too if the name differs in
   * case alone: the method of such an account may take any case. A link that is being made at the same moment is
   * withdrawn too, or comes after it and is listed. A store without `replace` may lose such a link from the list if
   * several processes use it; then only `revoke` ends it.
   */
  revokeAll(username: string): Promise<number>;
}
