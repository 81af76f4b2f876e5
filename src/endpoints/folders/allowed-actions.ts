import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import type { Triggers } from "../../config/trigger-config.ts";
import type { Operation } from "../../contracts/account.ts";
import type { MemberAction } from "../../contracts/pages/member-action.ts";
import type { AccountContext } from "../../request/context.ts";
import type { FolderActions } from "../../views/folder-actions.ts";
import type { FolderPage } from "../../views/folder-page.ts";

/** A name that stands for any member: its permissions are those of most members. */
const ANY_NAME = "member";

/**
 * The actions that the page of a folder offers an account. The page only hides actions that can never succeed: an
 * action that a rule grants for some names is offered. Each member's permissions are checked when the action runs.
 * `triggers` are those of the account.
 */
export function toFolderActions(account: Account, segments: readonly string[], triggers: Triggers): FolderActions {
  const mayBeAllowed = (operation: Operation): boolean => mayBeGranted(account, segments, operation);

  return {
    upload: mayBeAllowed("write"),
    createFolder: mayBeAllowed("create-folder"),
    download: mayBeAllowed("read"),
    delete: mayBeAllowed("delete-file") || mayBeAllowed("delete-folder"),
    deleteFiles: mayBeAllowed("delete-file"),
    deleteFolders: mayBeAllowed("delete-folder"),
    move: mayBeAllowed("rename"),
    copy: mayBeAllowed("read") && mayBeAllowed("write"),
    triggers: [...triggers].map(([name, { label = name, style = "neutral" }]) => {
      return { name, label, style };
    }),
  };
}

/** What each action needs on a member. Whether an archive of a folder has anything, only its members decide. */
const NEEDS: Readonly<Record<"file" | "folder", readonly (readonly [MemberAction, Operation])[]>> = {
  file: [
    ["download", "read"],
    ["move", "rename"],
    ["copy", "read"],
    ["delete", "delete-file"],
  ],
  folder: [
    ["move", "rename"],
    ["copy", "list"],
    ["delete", "delete-folder"],
  ],
};

/**
 * Returns a function that finds what a folder's page offers on most members, but not on this one. `undefined`: the
 * account may do the same on all.
 */
export function toDenials({ account, files, path: { segments } }: AccountContext): FolderPage["denialsOf"] {
  const isSame = ([, operation]: readonly [MemberAction, Operation]): boolean =>
    account.permissions.grantsEverywhere(operation) || !mayBeGranted(account, segments, operation);
  if (Object.values(NEEDS).flat().every(isSame)) return undefined;

  return async ({ name, kind }) => {
    const denials: MemberAction[] = [];
    for (const [action, operation] of NEEDS[kind === "folder" ? kind : "file"]) {
      if (!(await files.may([...segments, name], operation))) denials.push(action);
    }
    return denials;
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

/** Whether an operation is granted on members of a folder, of some names at least. */
export function mayBeGranted({ permissions }: Account, segments: readonly string[], operation: Operation): boolean {
  const { granted, rule } = permissions.explain(toStoragePath([...segments, ANY_NAME]), operation);
  return granted || (rule === undefined && permissions.grantsSomewhere(operation));
}
