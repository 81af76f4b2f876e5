import { type Groups, toAccount } from "../account/account.ts";
import type { AccountSettings } from "../contracts/account.ts";
import { OptionError } from "../contracts/option-error.ts";
import { describeAccountIssues, parseAccountSettings } from "../schemas/account.ts";

/** The name of the account without a login, in events and logs. */
export const ANONYMOUS = "anonymous";

/** An account that anyone can use gives nothing away by default, and has nothing of its own. */
const DEFAULTS: AccountSettings = { permissions: [["allow-read", "allow-list"]] };
const FIXED: AccountSettings = { allow_links: false, allow_own_keys: false };

/** Checks the option `anonymous`, and completes it. @throws OptionError */
export function toAnonymous(given: AccountSettings | undefined, groups: Groups): AccountSettings | undefined {
  if (given === undefined) return undefined;
  const parsed = parseAccountSettings(given);
  if (!parsed.success) throw new OptionError("anonymous", describeAccountIssues(parsed.error).join("; "));
  const settings = { ...DEFAULTS, ...parsed.data, ...FIXED };
  try {
    toAccount(ANONYMOUS, settings, groups);
  } catch (error) {
    throw new OptionError("anonymous", `settings that can be used: ${(error as Error).message}`, { cause: error });
  }
  return settings;
}
