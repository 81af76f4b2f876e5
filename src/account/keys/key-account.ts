import type { Operation } from "../../contracts/account.ts";
import type { ApiKey } from "../../contracts/api-keys.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import type { Account } from "../account.ts";
import { toStoragePath } from "../path.ts";
import { operationsOf, type Permissions } from "../permissions.ts";

/** Operations that would remove or move the folder that a key is for. */
const OF_ROOT: readonly Operation[] = ["rename", "delete-folder"];

/** Whether a key is for less than its account. */
export function isRestricted(key: ApiKey): boolean {
  return key.permissions !== undefined || keyPathOf(key).length > 0;
}

/** The segments of the file or folder that a key is for. */
export function keyPathOf({ path = "/" }: Pick<ApiKey, "path">): readonly string[] {
  return toPathSegments(path);
}

/**
 * Returns the account as a key has it: with the permissions that the key and the account both grant, at the path of the
 * key and below it. A key makes no links and no keys, which would outlive it.
 */
export function toKeyAccount(account: Account, key: ApiKey): Account {
  return {
    ...account,
    permissions: isRestricted(key) ? toKeyPermissions(account.permissions, key) : account.permissions,
    allowPasswordChange: false,
    allowLinks: false,
    allowOwnKeys: false,
  };
}

function toKeyPermissions(permissions: Permissions, { permissions: values, path = "/" }: ApiKey): Permissions {
  const granted = values && operationsOf(values);
  const root = path === "/" ? "" : toStoragePath(keyPathOf({ path }));
  const grants = (operation: Operation): boolean => granted?.has(operation) !== false;

  function isGranted(at: string, operation: Operation): boolean {
    if (!grants(operation)) return false;
    if (root === "") return true;
    return at === root ? !OF_ROOT.includes(operation) : at.startsWith(`${root}/`);
  }

  function allows(at: string, operation: Operation): boolean {
    return isGranted(at, operation) && permissions.allows(at, operation);
  }

  return {
    ...permissions,
    allows,
    grantsEverywhere: (operation) => root === "" && grants(operation) && permissions.grantsEverywhere(operation),
    grantsSomewhere: (operation) => grants(operation) && permissions.grantsSomewhere(operation),
    explain: (at, operation) => ({ ...permissions.explain(at, operation), granted: allows(at, operation) }),
  };
}
