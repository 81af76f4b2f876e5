import type { Operation } from "../../contracts/account.ts";
import type { LinkPermission } from "../../contracts/links.ts";
import { isPrefix } from "../../contracts/storage-path.ts";
import type { Account } from "../account.ts";
import { toStoragePath } from "../path.ts";
import type { Permissions } from "../permissions.ts";
import { toRealSegments } from "../virtual-folders.ts";

/** What a link leads to, and what it may do there. */
export interface LinkRights {
  /** The ID of the link. */
  readonly id: string;
  /** The path of the file or folder below the account's root. */
  readonly path: readonly string[];
  readonly isFolder: boolean;
  readonly permissions: readonly LinkPermission[];
  readonly maxFileBytes?: number;
  /** When it ends, in POSIX seconds. */
  readonly expires: number;
  /** Whether the link is in no store, so that nothing but its end is known without its token. */
  readonly isFree: boolean;
}

/** What each permission of a link grants. It never grants renaming and setting attributes. */
const GRANTS: Readonly<Record<LinkPermission, readonly Operation[]>> = {
  "allow-read": ["read"],
  "allow-list": ["list", "traverse"],
  "allow-traverse": ["traverse"],
  "allow-write": ["write"],
  "allow-create-folder": ["create-folder"],
  "allow-delete-file": ["delete-file"],
  "allow-delete-folder": ["delete-folder"],
};

/** The operations that permissions of a link grant. */
export function toLinkOperations(permissions: readonly LinkPermission[]): ReadonlySet<Operation> {
  return new Set(permissions.flatMap((permission) => GRANTS[permission]));
}

/** The path of the account that is the root of a link: its folder, or the folder around its file. */
export function toLinkRoot({ path, isFolder }: Pick<LinkRights, "path" | "isFolder">): readonly string[] {
  return isFolder ? path : path.slice(0, -1);
}

/**
 * Returns the account with the root of a link in place of its own, and with the permissions that the link and the
 * account both grant (SHARING 5.1). Everything that an account has applies below a link in this way.
 */
export function toLinkAccount(account: Account, rights: LinkRights): Account {
  const root = toLinkRoot(rights);
  const { maxFileBytes = Number.POSITIVE_INFINITY } = account;
  const limit = Math.min(maxFileBytes, rights.maxFileBytes ?? Number.POSITIVE_INFINITY);
  const { maxFileBytes: _own, ...rest } = account;
  return {
    ...rest,
    home: toRealSegments(account, root),
    structure: [],
    virtualFolders: account.virtualFolders.flatMap(({ virtual, real }) =>
      isPrefix(root, virtual) ? [{ virtual: virtual.slice(root.length), real }] : [],
    ),
    permissions: toLinkPermissions(account.permissions, root, rights),
    ...(Number.isFinite(limit) && { maxFileBytes: limit }),
  };
}

/** The permissions of an account below `root`, as far as a link grants them too. A file link grants its file alone. */
function toLinkPermissions(
  permissions: Permissions,
  root: readonly string[],
  { isFolder, path, permissions: values }: LinkRights,
): Permissions {
  const granted = toLinkOperations(values);
  const prefix = root.length === 0 ? "" : toStoragePath(root);
  const file = isFolder ? undefined : toStoragePath(path.slice(-1));
  const toOwn = (below: string): string => (below === "/" ? prefix || "/" : `${prefix}${below}`);
  const isReached = (below: string): boolean => file === undefined || below === file;

  function allows(below: string, operation: Operation): boolean {
    // The root of a file link has the file, whether or not the account may list the folder.
    if (file !== undefined && below === "/") return operation === "list" || operation === "traverse";
    return isReached(below) && granted.has(operation) && permissions.allows(toOwn(below), operation);
  }

  return {
    allows,
    isTooLong: (below) => permissions.isTooLong(toOwn(below)),
    isPauseDue: (below) => permissions.isPauseDue(toOwn(below)),
    grantsEverywhere: (operation) =>
      file === undefined && granted.has(operation) && permissions.grantsEverywhere(operation),
    grantsSomewhere: (operation) => granted.has(operation) && permissions.grantsSomewhere(operation),
    explain: (below, operation) => ({
      ...permissions.explain(toOwn(below), operation),
      granted: allows(below, operation),
    }),
  };
}
