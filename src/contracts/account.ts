/** What a permission can be (CONTRACT 7.4). */
export const PERMISSION_VALUES = [
  "allow-full-control",
  "deny-full-control",
  /** Content and attributes of files. */
  "allow-read",
  /** Members of folders, with their attributes. */
  "allow-list",
  /** Members of folders, but folders only. */
  "allow-traverse",
  "allow-create-folder",
  /** Creating and overwriting files. */
  "allow-write",
  "allow-rename",
  "allow-delete-file",
  "allow-delete-folder",
  "allow-set-attributes",
] as const;

/**
 * One of {@link PERMISSION_VALUES}.
 *
 * @useDeclaredType
 */
export type PermissionValue = (typeof PERMISSION_VALUES)[number];

/**
 * The configuration of an account as an authenticator gives it (2.4): the wire format, hence its snake_case names. What it leaves
 * out comes from its group, then from the group `DEFAULT_GROUP`, then from the defaults. An unknown member is an error: the login
 * is refused.
 *
 * In paths and path expressions `${USER}` stands for the account's name with `\ / : * ? " < > | %` and control characters
 * percent-encoded.
 */
export interface AccountSettings {
  /** Absolute storage path of the account's root folder. Default: the group's. */
  readonly home_folder_path?: string;
  /** Identifier that outlives a renaming. Default: the account's name. */
  readonly uuid?: string;
  /** One or more comma-separated e-mail addresses. Default: the empty text. */
  readonly email?: string;
  /** The group whose settings stand in for missing ones. Default: `DEFAULT_GROUP`. */
  readonly group?: string;
  /** Whether a missing home folder is created at login, parents included. Default: true. */
  readonly create_home_folder?: boolean;
  /** Account of the operating system that owns a home folder that is created. Default: the process's own. */
  readonly create_home_folder_owner?: string;
  /** Group of the operating system of a home folder that is created. Default: the process's own. */
  readonly create_home_folder_group?: string;
  /** Paths of folders that are created inside the home folder at login. Default: none. */
  readonly home_folder_structure?: readonly string[];
  /** Pairs of a virtual path and the absolute storage path that it stands for. Default: none. */
  readonly virtual_folders?: readonly (readonly [virtual: string, real: string])[];
  /**
   * First the list of general permissions; then, each in a list of its own, a path expression and the permissions that stand in
   * for the general ones where it is the first to match. Default: the group's; in the end `[["allow-full-control"]]`.
   */
  readonly permissions?: readonly (readonly string[])[];
  /**
   * What one file may hold at most that the account writes, in bytes; 0 for no limit of its own. The service's `limits.maxFileBytes` holds
   * as well. It is no member of 2.4: a remote endpoint names a group that has it. Default: the group's; in the end 0.
   */
  readonly max_file_bytes?: number;
}

/** The configuration of a group: what its accounts leave out. */
export interface GroupSettings extends Omit<AccountSettings, "group"> {
  /**
   * `${USER}` is appended as a last segment where the path has it nowhere, unless the path begins with `${SHARED}`, which is
   * dropped: that folder is everybody's. Default: `/${USER}`.
   */
  readonly home_folder_path?: string;
  /** Whether accounts may change their own password. Default: true. */
  readonly allow_own_password_change?: boolean;
}
