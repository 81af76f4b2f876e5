import type {
  Authenticator,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
} from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { AccountVersions } from "../account-versions.ts";

/** Options of {@link createChainPasswords}. */
export interface ChainPasswordsOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  readonly versions: Pick<AccountVersions, "tag">;
  /** Starts a method that was not started. */
  startMethod(method: Authenticator): Promise<void>;
  readonly logger: Logger | undefined;
}

/** Changes passwords by a chain's methods. The first method that knows the account decides. */
export interface ChainPasswords {
  /** See `AuthenticationChain.canUpdatePassword`. */
  canUpdate(username: string): Promise<PasswordUpdatability>;
  /** See `AuthenticationChain.updatePassword`. */
  update(change: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** Creates the password changes of a chain. */
export function createChainPasswords(options: ChainPasswordsOptions): ChainPasswords {
  const { methods, versions, startMethod, logger } = options;

  async function canUpdate(username: string): Promise<PasswordUpdatability> {
    for (const method of methods) {
      const outcome = await mapMethodErrors(method, username, () => askUpdatability(method, username));
      if (outcome !== "unknown") return outcome;
    }
    return "unknown";
  }

  async function update(change: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    for (const method of methods) {
      const outcome = await mapMethodErrors(method, change.username, () => askUpdate(method, withTags(method, change)));
      if (outcome.outcome !== "unknown") return outcome;
    }
    return { outcome: "unknown" };
  }

  function withTags(method: Authenticator, change: PasswordUpdate): PasswordUpdate {
    const { beforeChange } = change;
    if (beforeChange === undefined) return change;
    return { ...change, beforeChange: (version) => beforeChange(versions.tag(method, version)) };
  }

  /** A failing method ends the search: the account may be its own, so no later method may change the password. */
  async function mapMethodErrors<T>(method: Authenticator, username: string, work: () => Promise<T>): Promise<T> {
    try {
      await startMethod(method);
      return await work();
    } catch (error) {
      if (isHttpError(error) && error.failure === "unavailable") throw error;
      logger?.error(
        { method: method.name, username, error },
        "An authentication method failed; no password was changed.",
      );
      throw createError("password-change-unavailable", { headers: { "Retry-After": "1" } });
    }
  }

  return { canUpdate, update };
}

async function askUpdatability(method: Authenticator, username: string): Promise<PasswordUpdatability> {
  if (method.canUpdatePassword !== undefined) return method.canUpdatePassword(username);
  return method.updatePassword === undefined ? "unknown" : "updatable";
}

async function askUpdate(method: Authenticator, change: PasswordUpdate): Promise<PasswordUpdateOutcome> {
  const updatability = await askUpdatability(method, change.username);
  if (updatability !== "updatable") return { outcome: updatability };
  return (await method.updatePassword?.(change)) ?? { outcome: "not-updatable" };
}
