import type { Account } from "../../account/account.ts";
import { triggersOf } from "../../config/trigger-config.ts";
import { OPERATIONS, type Operation } from "../../contracts/account.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { jsonReply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { AccountInfo } from "../../schemas/account-info.ts";
import { mayBeGranted } from "../folders/allowed-actions.ts";

/** `GET` and `HEAD /home/__svc__/account`: who the client is, and what it may do, for front ends. */
export async function getAccount({ account, scheme, config, passwords, keys }: AccountContext): Promise<Reply> {
  if (scheme === "link" || scheme === "anonymous") throw createError("not-found");
  const info: AccountInfo = {
    name: account.name,
    groups: [account.group],
    login: scheme,
    logins: [
      "basic",
      ...(keys === undefined ? [] : (["bearer"] as const)),
      "session",
      "cookie",
      ...(config.identify === undefined ? [] : (["identity"] as const)),
    ],
    permissions: OPERATIONS.filter((operation) => mayInRoot(account, operation)),
    maxFileBytes: account.maxFileBytes ?? null,
    capabilities: {
      archive: true,
      passwordChange: account.allowPasswordChange && (await passwords.isPossible(account.name)),
      webdav: config.webdav !== undefined,
      triggers: [...triggersOf(config.triggers, account.group).keys()],
    },
  };
  return jsonReply(200, info);
}

/** Whether an operation is granted in the root, or on members of some names. */
function mayInRoot(account: Account, operation: Operation): boolean {
  if (operation === "list" || operation === "traverse") return account.permissions.allows("/", operation);
  return mayBeGranted(account, [], operation);
}
