import type { Account } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import type { Operation } from "../../account/permissions.ts";
import { type Triggers, triggersOf } from "../../config/trigger-config.ts";
import type { FolderActions } from "../../views/folder-actions.ts";

/** Stands for any member: what is granted for it is granted for most. */
const ANY_NAME = "member";

/**
 * What the page of a folder offers an account. Each member's permissions are judged when something is done to it; here it is only about not
 * offering what can never be, so where a rule on names could grant it, it is offered.
 */
export function toFolderActions(account: Account, segments: readonly string[], triggers: Triggers): FolderActions {
  const { permissions } = account;
  const path = toStoragePath([...segments, ANY_NAME]);

  function mayBe(operation: Operation): boolean {
    const { granted, rule } = permissions.explain(path, operation);
    return granted || (rule === undefined && permissions.grantsSomewhere(operation));
  }

  return {
    upload: mayBe("write"),
    createFolder: mayBe("create-folder"),
    download: mayBe("read"),
    delete: mayBe("delete-file") || mayBe("delete-folder"),
    triggers: [...triggersOf(triggers, account.group)].map(([name, { label = name, style = "neutral" }]) => {
      return { name, label, style };
    }),
  };
}
