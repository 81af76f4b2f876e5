import type {
  Authenticator,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
} from "../../contracts/authenticator.ts";
import type { AccountVersions } from "../account-versions.ts";
import type { CallMethod, MethodFailure } from "../method-calls.ts";

/** Options of {@link createChainPasswords}. */
export interface ChainPasswordsOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  readonly versions: Pick<AccountVersions, "tag">;
  readonly callMethod: CallMethod;
}

/** Changes passwords by a chain's methods. The first method that knows the account decides. */
export interface ChainPasswords {
  /** See `AuthenticationChain.canUpdatePassword`. */
  canUpdate(username: string): Promise<PasswordUpdatability>;
  /** See `AuthenticationChain.updatePassword`. */
  update(change: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** Creates the password changes of a chain. */
export function createChainPasswords({ methods, versions, callMethod }: ChainPasswordsOptions): ChainPasswords {
  async function canUpdate(username: string): Promise<PasswordUpdatability> {
    for (const method of methods) {
      const outcome = await callMethod(method, toFailure(username), () => askUpdatability(method, username));
      if (outcome !== "unknown") return outcome;
    }
    return "unknown";
  }

  async function update(change: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    const failure = toFailure(change.username);
    for (const method of methods) {
      const outcome = await callMethod(method, failure, () => askUpdate(method, withTags(method, change)));
      if (outcome.outcome !== "unknown") return outcome;
    }
    return { outcome: "unknown" };
  }

  function withTags(method: Authenticator, change: PasswordUpdate): PasswordUpdate {
    const { beforeChange } = change;
    if (beforeChange === undefined) return change;
    return { ...change, beforeChange: (version) => beforeChange(versions.tag(method, version)) };
  }

  return { canUpdate, update };
}

function toFailure(username: string): MethodFailure {
  return { code: "password-change-unavailable", consequence: "no password was changed", username };
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
