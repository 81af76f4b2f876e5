import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { isMemberName } from "../http/path-segment.ts";
import { toAccount } from "./account.ts";
import { toStoragePath } from "./path.ts";
import { type Explanation, OPERATIONS, type Operation } from "./permissions.ts";

/** An account and its groups, as a service and its authenticators are given them. */
export interface ExplainedAccount {
  readonly username: string;
  /** As the authenticator gives them (2.4). Default: none. */
  readonly settings?: AccountSettings;
  /** As the service's option `groups`. Default: none. */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
}

/**
 * Tells whether an account's permissions grant an operation on a path, which rule matched, which value decided, and what is missing
 * (CONTRACT 7.4). Pure: nothing is looked up, and what stands at the path does not matter. `path` is the account's virtual path, such as
 * `/reports/a.csv`; a trailing `/` is dropped. Only permissions are judged: the account's root, the roots of virtual folders and the
 * reserved name `__svc__` stay protected whatever they say.
 * @throws TypeError for a group, path or permission in the settings that would refuse the login, naming the member; for a path that no
 * URL can have; for an unknown operation.
 */
export function explainPermission(account: ExplainedAccount, path: string, operation: Operation): Explanation {
  const { username, settings = {}, groups = {} } = account;
  if (!OPERATIONS.includes(operation)) throw new TypeError(`operation: must be one of ${OPERATIONS.join(", ")}`);
  const { permissions } = toAccount(username, settings, new Map(Object.entries(groups)));
  const segments = toPathSegments(path.replace(/(?<=[^/])\/$/, ""));
  if (!segments.every(isMemberName)) throw new TypeError(`Not a path: ${JSON.stringify(path)}`);
  return permissions.explain(toStoragePath(segments), operation);
}
