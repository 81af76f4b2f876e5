import type { AccountSettings } from "../contracts/account.ts";
import type { AccountLookup, Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { createError } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";
import { describeAccountIssues, parseAccountSettings } from "../schemas/account.ts";

/** Options of {@link createAccountLookups}. */
export interface AccountLookupsOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  /** Starts a method that was not started. */
  startMethod(method: Authenticator): Promise<void>;
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
export function createAccountLookups({ methods, startMethod, logger }: AccountLookupsOptions): AccountLookups {
  const able = methods.filter((method) => method.lookup !== undefined);

  async function find(username: string): Promise<AccountLookup> {
    for (const method of able) {
      const result = await ask(method, username);
      if (result.outcome === "found") return toUsable(method, username, result.account);
    }
    return { outcome: "unknown" };
  }

  /** A failing method ends the search: the account may be its own, so no later method may answer for it. */
  async function ask(method: Authenticator, username: string): Promise<AccountLookup> {
    try {
      await startMethod(method);
      const result = await method.lookup?.(username);
      if (!isLookup(result)) throw new TypeError("The method returned no result of a lookup.");
      return result;
    } catch (error) {
      if (isHttpError(error) && error.failure === "unavailable") throw error;
      logger?.error(
        { method: method.name, username, error },
        "An authentication method failed; an account was not looked up.",
      );
      throw createError("account-lookup-unavailable", { headers: { "Retry-After": "1" } });
    }
  }

  /** A login with these settings would be refused: an unknown setting could be one that forbids something (2.4). */
  function toUsable(method: Authenticator, username: string, account: AccountSettings): AccountLookup {
    const settings = parseAccountSettings(account);
    if (settings.success) return { outcome: "found", account: settings.data };
    const problems = describeAccountIssues(settings.error);
    logger?.error({ method: method.name, username, problems }, "A looked-up account has settings that cannot be used.");
    return { outcome: "unknown" };
  }

  return { isPossible: able.length > 0, find };
}

/** Checks at run time, as methods may be written in JavaScript. */
function isLookup(value: AccountLookup | undefined): value is AccountLookup {
  if (value?.outcome === "found") return typeof value.account === "object" && value.account !== null;
  return value?.outcome === "unknown";
}
