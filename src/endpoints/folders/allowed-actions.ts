import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import type { Triggers } from "../../config/trigger-config.ts";
import { OPERATIONS, type Operation } from "../../contracts/account.ts";
import type { MemberAction } from "../../contracts/pages/member-action.ts";
import type { AccountContext } from "../../request/context.ts";
import type { FolderActions } from "../../views/folder-actions.ts";
import type { PageMember } from "../../views/member-order.ts";

/** A name that stands for new members: no rule is for it alone. */
const ANY_NAME = "anyothername";

/** An action, and the operations of which it needs one. */
type Need = readonly [action: MemberAction, ...operations: readonly Operation[]];

/** What each action needs on a member. Links to a folder depend on its members. */
const NEEDS: Readonly<Record<"file" | "folder", readonly Need[]>> = {
  file: [
    ["download", "read"],
    ["move", "rename"],
    ["copy", "read"],
    ["delete", "delete-file"],
    ["share", "read", "write", "delete-file"],
  ],
  folder: [
    ["move", "rename"],
    ["copy", "list"],
    ["delete", "delete-folder"],
  ],
};

/**
 * Returns the actions that an account may not do on what is at `relativePath` below the folder. It is the same list for
 * many members.
 */
export type FindDenied = (
  relativePath: string,
  isFolder: boolean,
) => readonly MemberAction[] | Promise<readonly MemberAction[]>;

/** Rules are looked up for this number of members at most: each may cost milliseconds. The others deny nothing. */
const MAX_LOOKED_UP = 10_000;

/** Creates the {@link FindDenied} of the folder of a request. Without rules on names it has nothing to look up. */
export async function createFindDenied({ account, files, path: folder }: AccountContext): Promise<FindDenied> {
  const { permissions } = account;
  const lists = new Map<string, readonly MemberAction[]>();
  let lookedUp = 0;

  async function find(relativePath: string, isFolder: boolean): Promise<readonly MemberAction[]> {
    lookedUp += 1;
    if (lookedUp > MAX_LOOKED_UP) return [];
    const segments = [...folder.segments, ...relativePath.split("/")];
    const path = toStoragePath(segments);
    // It lets other requests run, if that is due. The other operations are of the same rule.
    await files.may(segments, "list");
    const isDenied = ([, ...operations]: Need): boolean => !operations.some((one) => permissions.allows(path, one));
    const denied = (isFolder ? NEEDS.folder : NEEDS.file).filter(isDenied).map(([action]) => action);
    if (isFolder && !mayBeGranted(account, segments, "read")) denied.push("download");
    const key = denied.join();
    const list = lists.get(key) ?? denied;
    lists.set(key, list);
    return list;
  }

  if (OPERATIONS.some((one) => permissions.grantsSomewhere(one) && !permissions.grantsEverywhere(one))) return find;
  const [ofFile, ofFolder] = [await find(ANY_NAME, false), await find(ANY_NAME, true)];
  return (_relativePath, isFolder) => (isFolder ? ofFolder : ofFile);
}

/**
 * The actions that the page of a folder offers an account: those on members that it may do on one of `members` at
 * least, and those in the folder that permissions allow for some name. Each member's permissions are checked when an
 * action runs. `triggers` are those of the account.
 */
export function toFolderActions(
  account: Account,
  segments: readonly string[],
  triggers: Triggers,
  members: readonly PageMember[] = [],
): FolderActions {
  const { grantsSomewhere } = account.permissions;
  const isOffered = (action: MemberAction): boolean => members.some(({ denied }) => !denied?.includes(action));

  return {
    upload: mayBeGranted(account, segments, "write"),
    createFolder: mayBeGranted(account, segments, "create-folder"),
    download: isOffered("download"),
    delete: isOffered("delete"),
    move: isOffered("move"),
    copy: grantsSomewhere("read") && grantsSomewhere("write") && isOffered("copy"),
    triggers: [...triggers].map(([name, { label = name, style = "neutral" }]) => {
      return { name, label, style };
    }),
  };
}

/** Whether an account may create members of a folder, some at least, but see none of them. */
export function isUploadOnly(account: Account, segments: readonly string[]): boolean {
  const { permissions } = account;
  if (permissions.grantsEverywhere("list")) return false;
  const path = toStoragePath(segments);
  if (permissions.allows(path, "list") || permissions.allows(path, "traverse")) return false;
  return mayBeGranted(account, segments, "write") || mayBeGranted(account, segments, "create-folder");
}

/** Whether an operation is granted on new members of a folder, of some names at least. */
export function mayBeGranted({ permissions }: Account, segments: readonly string[], operation: Operation): boolean {
  const path = toStoragePath([...segments, ANY_NAME]);
  if (permissions.isTooLong(path)) return permissions.grantsEverywhere(operation);
  const { granted, rule } = permissions.explain(path, operation);
  return granted || (rule === undefined && permissions.grantsSomewhere(operation));
}
