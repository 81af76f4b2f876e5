import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import type { Operation } from "../../account/permissions.ts";
import { type Triggers, triggersOf } from "../../config/trigger-config.ts";
import type { FolderActions } from "../../views/folder-actions.ts";

/** A name that stands for any member: its permissions are those of most members. */
const ANY_NAME = "member";

/**
 * The actions that the page of a folder offers an account. The page only hides actions that can never succeed: an
 * action that a rule grants for some names is offered. Each member's permissions are checked when the action runs.
 */
export function toFolderActions(account: Account, segments: readonly string[], triggers: Triggers): FolderActions {
  const { permissions } = account;
  const path = toStoragePath([...segments, ANY_NAME]);

  function mayBeAllowed(operation: Operation): boolean {
    const { granted, rule } = permissions.explain(path, operation);
    return granted || (rule === undefined && permissions.grantsSomewhere(operation));
  }

  return {
    upload: mayBeAllowed("write"),
    createFolder: mayBeAllowed("create-folder"),
    download: mayBeAllowed("read"),
    delete: mayBeAllowed("delete-file") || mayBeAllowed("delete-folder"),
    triggers: [...triggersOf(triggers, account.group)].map(([name, { label = name, style = "neutral" }]) => {
      return { name, label, style };
    }),
  };
}
