import type { AccountSettings } from "../contracts/account.ts";
import type { AccountLookup, Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { describeAccountIssues, parseAccountSettings } from "../schemas/account.ts";
import type { CallMethod } from "./method-calls.ts";

/** Options of {@link createAccountLookups}. */
export interface AccountLookupsOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  readonly callMethod: CallMethod;
  readonly logger: Logger | undefined;
}

/** Looks accounts up by the methods of a chain. */
export interface AccountLookups {
  /** Whether a method has `lookup`. */
  readonly isPossible: boolean;
  /** See `AuthenticationChain.lookup`. */
  find(username: string): Promise<AccountLookup>;
}

/** Creates the lookups of a chain. */
export function createAccountLookups({ methods, callMethod, logger }: AccountLookupsOptions): AccountLookups {
  const able = methods.filter((method) => method.lookup !== undefined);

  async function find(username: string): Promise<AccountLookup> {
    const failure = {
      code: "account-lookup-unavailable",
      consequence: "an account was not looked up",
      username,
    } as const;
    let isTaken = false;
    for (const method of able) {
      const result = await callMethod(method, failure, () => ask(method, username));
      if (result.outcome === "found") return toUsable(method, username, result.account);
      isTaken ||= result.isTaken === true;
    }
    return isTaken ? { outcome: "unknown", isTaken } : { outcome: "unknown" };
  }

  /** A login with these settings would be refused: an unknown setting could be one that forbids something (2.4). */
  function toUsable(method: Authenticator, username: string, account: AccountSettings): AccountLookup {
    const settings = parseAccountSettings(account);
    if (settings.success) return { outcome: "found", account: settings.data };
    const problems = describeAccountIssues(settings.error);
    logger?.error({ method: method.name, username, problems }, "A looked-up account has settings that cannot be used.");
    return { outcome: "unknown", isTaken: true };
  }

  return { isPossible: able.length > 0, find };
}

async function ask(method: Authenticator, username: string): Promise<AccountLookup> {
  const result = await method.lookup?.(username);
  if (!isLookup(result)) throw new TypeError("The method returned no result of a lookup.");
  return result;
}

/** Checks at run time, as methods may be written in JavaScript. */
function isLookup(value: AccountLookup | undefined): value is AccountLookup {
  if (value?.outcome === "found") return typeof value.account === "object" && value.account !== null;
  return value?.outcome === "unknown";
}
