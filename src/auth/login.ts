import type { AccountSettings } from "../contracts/account.ts";

/** An account whose credentials were accepted. */
export interface Login {
  readonly username: string;
  readonly settings: AccountSettings;
  /**
   * The account's version. Present if its method gives versions and this request's credentials were verified; a login
   * by session has none, as the session keeps its own versions.
   */
  readonly version?: string;
}
