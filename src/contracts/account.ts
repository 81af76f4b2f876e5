/** The values that a permission can have (CONTRACT 7.4). */
export const PERMISSION_VALUES = [
  "allow-full-control",
  "deny-full-control",
  /** Read the content and attributes of files. */
  "allow-read",
  /** List the members of folders, with their attributes. */
  "allow-list",
  /** List the members of folders, but only those that are folders. */
  "allow-traverse",
  "allow-create-folder",
  /** Create and overwrite files. */
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

/** An operation on a path that permissions grant or deny. */
export type Operation =
  /** Reading the content and attributes of a file. */
  | "read"
  /** Listing the members of a folder, with their attributes. */
  | "list"
  /** Listing only the folders among the members of a folder. */
  | "traverse"
  | "create-folder"
  /** Creating or overwriting a file. */
  | "write"
  | "rename"
  | "delete-file"
  | "delete-folder"
  | "set-attributes";

/** All operations. */
export const OPERATIONS = [
  "read",
  "list",
  "traverse",
  "create-folder",
  "write",
  "rename",
  "delete-file",
  "delete-folder",
  "set-attributes",
] as const satisfies readonly Operation[];

/**
 * The settings of an account, as an authenticator returns them (2.4). The names are in snake_case because this is the
 * wire format.
 *
 * A missing setting comes from the account's group, then from the group `DEFAULT_GROUP`, then from the defaults. An
 * unknown setting is an error: the login is refused.
 *
 * In paths and path expressions `${USER}` stands for the account's name. In it, `\ / : * ? " < > | %` and control
 * characters are percent-encoded.
 */
export interface AccountSettings {
  /** Absolute storage path of the account's root folder. Default: the group's. */
  readonly home_folder_path?: string;
  /**
   * Identifier that stays the same when the account is renamed. A link is valid for this identifier only, so an account
   * that is made again under the name of a deleted one should have another. Default: the account's name.
   */
  readonly uuid?: string;
  /** One or more e-mail addresses, separated by commas. Default: the empty text. */
  readonly email?: string;
  /** The group that missing settings come from. Default: `DEFAULT_GROUP`. */
  readonly group?: string;
  /** Whether the login creates a missing home folder and its missing parents. Default: true. */
  readonly create_home_folder?: boolean;
  /** The operating system's account that owns a created home folder. Default: the account of the process. */
  readonly create_home_folder_owner?: string;
  /** The operating system's group that owns a created home folder. Default: the group of the process. */
  readonly create_home_folder_group?: string;
  /** Paths of folders that the login creates inside the home folder. Default: none. */
  readonly home_folder_structure?: readonly string[];
  /** Pairs of a virtual path and the absolute storage path that it stands for. Default: none. */
  readonly virtual_folders?: readonly (readonly [virtual: string, real: string])[];
  /**
   * The first list holds the general permissions. Each further list holds a path expression and the permissions that
   * replace the general ones below matching paths; the first expression that matches counts. Default: the group's, or
   * `[["allow-full-control"]]`.
   */
  readonly permissions?: readonly (readonly string[])[];
  /**
   * Maximum size of a file that the account writes, in bytes; 0 for no limit of its own. The service's
   * `limits.maxFileBytes` applies as well. A remote endpoint cannot send this setting, which is not part of 2.4; it can
   * name a group that has it. Default: the group's, or 0.
   */
  readonly max_file_bytes?: number;
  /**
   * Maximum size of all files below the account's home folder, in bytes; 0 for no limit of its own. It needs a storage
   * with quotas (`createQuotaStorage`). Accounts with one home folder share what is used, and each has its own limit. A
   * remote endpoint cannot send this setting; it can name a group that has it. Default: the group's, or 0.
   */
  readonly quota_bytes?: number;
  /** Maximum number of files below the account's home folder, as `quota_bytes`. Default: the group's, or 0. */
  readonly quota_files?: number;
  /**
   * Whether the account may make links, and whether those that it has made are valid. A remote endpoint cannot send
   * this setting; it can name a group that has it. Default: the group's, or true.
   */
  readonly allow_links?: boolean;
  /**
   * Whether each new link of the account must have a password. A remote endpoint cannot send this setting; it can name
   * a group that has it. Default: the group's, or false.
   */
  readonly require_link_password?: boolean;
  /**
   * Maximum time from the creation of a link to its end, in seconds; 0 for no limit of its own. The service's limit
   * applies as well. A remote endpoint cannot send this setting; it can name a group that has it. Default: the group's,
   * or 0.
   */
  readonly max_link_seconds?: number;
  /**
   * Whether the account may make and revoke API keys of its own. Its keys work in any case. A remote endpoint cannot
   * send this setting; it can name a group that has it. Default: the group's, or true.
   */
  readonly allow_own_keys?: boolean;
  /**
   * Whether HTTP Basic takes only an API key of the account, and not its password. The login page takes the password. A
   * remote endpoint cannot send this setting; it can name a group that has it. Default: the group's, or false.
   */
  readonly require_key_for_basic?: boolean;
}

/** The settings of a group: its accounts use them for settings of their own that are missing. */
export interface GroupSettings extends Omit<AccountSettings, "group"> {
  /**
   * If the path has no `${USER}`, the service appends it as the last segment, so that each account has its own folder.
   * A path that begins with `${SHARED}` is one folder for all accounts: the service drops this prefix and appends
   * nothing. Default: `/${USER}`.
   */
  readonly home_folder_path?: string;
  /** Whether accounts may change their own password. Default: true. */
  readonly allow_own_password_change?: boolean;
}
