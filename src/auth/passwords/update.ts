import type { Component, Peer, Trace } from "../../contracts/connection.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { PasswordPolicy } from "../../contracts/password-policy.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import type { AuthenticationChain } from "../chain.ts";
import type { LoginAudit } from "../login-audit.ts";
import type { Sessions } from "../sessions/types.ts";
import { type LoginThrottle, Throttled } from "../throttle.ts";
import { findPolicyProblems, type NewPassword } from "./policy.ts";

/** A password change that the client of a session requests. */
export interface OwnPasswordUpdate extends NewPassword {
  /** The ID of the session, which stays valid after the change. */
  readonly session: string;
  readonly peer?: Peer;
  /** The component that received the request. */
  readonly creator: Component;
  /** The trace of the request. */
  readonly trace?: Trace;
}

/** The result of a password change; `problems` has one error for each broken rule. */
export type OwnPasswordUpdateResult =
  | { readonly outcome: "updated" }
  | { readonly outcome: "not-updatable" }
  | { readonly outcome: "refused"; readonly problems: readonly HttpError[] };

/** How accounts change their own passwords (4.1). */
export interface PasswordUpdates {
  /** Returns whether an authentication method can change an account's password. @throws HttpError `unavailable`. */
  isPossible(username: string): Promise<boolean>;
  /**
   * Changes a password and ends the account's other sessions. Checks the policy first, then the current password, which
   * is throttled like a login.
   * @throws HttpError `unavailable`.
   */
  update(update: OwnPasswordUpdate): Promise<OwnPasswordUpdateResult>;
}

/** Options of {@link createPasswordUpdates}. */
export interface PasswordUpdatesOptions {
  readonly chain: AuthenticationChain;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  /** Reports a wrong current password, which counts as a failed login (CONTRACT 7.6). */
  readonly audit: LoginAudit;
  readonly policy: PasswordPolicy;
  /** Receives what fails after a password has changed. */
  readonly logger: Logger;
}

/** Creates the password updates of a service. */
export function createPasswordUpdates({
  chain,
  sessions,
  throttle,
  audit,
  policy,
  logger,
}: PasswordUpdatesOptions): PasswordUpdates {
  async function isPossible(username: string): Promise<boolean> {
    return (await chain.canUpdatePassword(username)) === "updatable";
  }

  async function update(request: OwnPasswordUpdate): Promise<OwnPasswordUpdateResult> {
    const problems = await findPolicyProblems(policy, request);
    if (problems.length > 0) return { outcome: "refused", problems };
    const { username, currentPassword, newPassword, peer, creator, session, trace } = request;
    const withPeer = peer === undefined ? {} : { peer };
    const withTrace = trace === undefined ? {} : { trace };
    const result = await throttle.run(
      { username, address: peer?.address },
      () => chain.updatePassword({ username, currentPassword, newPassword, ...withPeer, beforeChange: endOthers }),
      ({ outcome }) => (outcome === "updated" ? "succeeded" : outcome === "wrong-password" ? "failed" : "neither"),
    );
    if (result instanceof Throttled || result.outcome === "wrong-password") {
      const credentials = {
        type: "password",
        username,
        content: currentPassword,
        ...withPeer,
        creator,
        ...withTrace,
      } as const;
      audit.refused({ credentials, verdicts: [] }, result instanceof Throttled ? "throttled" : "credentials");
      return { outcome: "refused", problems: [createError("password-wrong")] };
    }
    if (result.outcome !== "updated") return { outcome: "not-updatable" };
    await endDuringChange();
    return { outcome: "updated" };

    /**
     * Again after the change, for logins that the previous password allowed during the change. A failure does not undo
     * the change, and with a repeated request the current password would be wrong. Such a session then stays valid only
     * if its method gives accounts no version.
     */
    async function endDuringChange(): Promise<void> {
      try {
        await endOthers();
      } catch (error) {
        logger.error({ error, username }, "Sessions of the previous password could not be ended after its change.");
      }
    }

    /**
     * Also called before the change, so that no session of the previous password stays valid if a later step fails.
     */
    function endOthers(version?: string): Promise<void> {
      return sessions.endOthers(username, session, version);
    }
  }

  return { isPossible, update };
}
