import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import { OPERATIONS, type Operation } from "../contracts/account.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { isMemberName } from "../http/path-segment.ts";
import { toAccount } from "./account.ts";
import { toStoragePath } from "./path.ts";
import type { Explanation } from "./permissions.ts";

/** An account and its groups, as a service and its authenticators get them. */
export interface ExplainedAccount {
  readonly username: string;
  /** The account's settings, as an authenticator returns them (2.4). Default: none. */
  readonly settings?: AccountSettings;
  /** The groups, as in the service's option `groups`. Default: none. */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
}

/**
 * Explains whether an account's permissions grant an operation on a path: which rule matched, which value decided, and
 * which values are missing (CONTRACT 7.4). `path` is the account's virtual path, such as `/reports/a.csv`; a trailing
 * `/` is ignored.
 *
 * The function checks only permissions and never accesses a storage. The service protects the account's root, the roots
 * of virtual folders and the reserved name `__svc__` even if permissions grant the operation.
 * @throws TypeError that names the member, for a group, path or permission in the settings that makes the service
 * refuse the login; for a path that no URL can have, or that is too long for the rules; for an unknown operation.
 */
export function explainPermission(account: ExplainedAccount, path: string, operation: Operation): Explanation {
  const { username, settings = {}, groups = {} } = account;
  if (!OPERATIONS.includes(operation)) throw new TypeError(`operation: must be one of ${OPERATIONS.join(", ")}`);
  const { permissions } = toAccount(username, settings, new Map(Object.entries(groups)));
  const segments = toPathSegments(path.replace(/(?<=[^/])\/$/, ""));
  if (!segments.every(isMemberName)) throw new TypeError(`Not a path: ${JSON.stringify(path)}`);
  const virtualPath = toStoragePath(segments);
  if (permissions.isTooLong(virtualPath)) throw new TypeError("The path is too long for the account's rules.");
  return permissions.explain(virtualPath, operation);
}
