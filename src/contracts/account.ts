/**
 * The configuration of an account as an authenticator gives it (2.4): the wire format, hence its snake_case
 * names. What it leaves out takes its default. An unknown member is an error: the login is refused.
 */
export interface AccountSettings {
  /**
   * Absolute storage path of the account's root folder. `${USER}` in it stands for the account's name with
   * `\ / : * ? " < > | %` and control characters percent-encoded. Default: `/${USER}`.
   */
  readonly home_folder_path?: string;
  /** Identifier that outlives a renaming. Default: the account's name. */
  readonly uuid?: string;
  /** One or more comma-separated e-mail addresses. Default: the empty text. */
  readonly email?: string;
  /** Whether a missing home folder is created at login, parents included. Default: true. */
  readonly create_home_folder?: boolean;
}

/** An account whose settings are complete and checked: what the service works with. */
export interface Account {
  /** The name it logged in with. */
  readonly name: string;
  readonly uuid: string;
  readonly email: string;
  /** Canonical storage path of its root folder. */
  readonly home: string;
  readonly createHome: boolean;
}
