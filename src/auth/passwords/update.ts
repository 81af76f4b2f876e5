import type { Component, Peer, Trace } from "../../contracts/connection.ts";
import type { PasswordPolicy } from "../../contracts/password-policy.ts";
import type { AuthenticationChain } from "../chain.ts";
import type { LoginAudit } from "../login-audit.ts";
import type { Sessions } from "../sessions/types.ts";
import type { LoginThrottle } from "../throttle.ts";
import { findPolicyProblems, type NewPassword } from "./policy.ts";

/** A change of password that the holder of a session asks for. */
export interface OwnPasswordUpdate extends NewPassword {
  /** The ID of the session, which outlives the change. */
  readonly session: string;
  readonly peer?: Peer;
  /** What received it. */
  readonly creator: Component;
  /** The trace of the request. */
  readonly trace?: Trace;
}

/** What came of it; `problems` are sentences for the client. */
export type OwnPasswordUpdateResult =
  | { readonly outcome: "updated" }
  | { readonly outcome: "not-updatable" }
  | { readonly outcome: "refused"; readonly problems: readonly string[] };

/** How accounts change their own passwords (4.1). */
export interface PasswordUpdates {
  /** Whether a method of authentication can change an account's password. @throws HttpError `unavailable`. */
  isPossible(username: string): Promise<boolean>;
  /**
   * Changes a password and ends the account's other sessions. The policy is asked before the current password, which is throttled as a login.
   * @throws HttpError `unavailable`.
   */
  update(update: OwnPasswordUpdate): Promise<OwnPasswordUpdateResult>;
}

/** What changes passwords. */
export interface PasswordUpdatesOptions {
  readonly chain: AuthenticationChain;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  /** Is told of a wrong current password: it counts as a failed login (CONTRACT 7.6). */
  readonly audit: LoginAudit;
  readonly policy: PasswordPolicy;
}

/** Makes the changes of password of a service. */
export function createPasswordUpdates({
  chain,
  sessions,
  throttle,
  audit,
  policy,
}: PasswordUpdatesOptions): PasswordUpdates {
  async function isPossible(username: string): Promise<boolean> {
    return (await chain.canUpdatePassword(username)) === "updatable";
  }

  async function update(request: OwnPasswordUpdate): Promise<OwnPasswordUpdateResult> {
    const problems = await findPolicyProblems(policy, request);
    if (problems.length > 0) return { outcome: "refused", problems };
    const { username, currentPassword, newPassword, peer, creator, session, trace } = request;
    const from = peer === undefined ? {} : { peer };
    const traced = trace === undefined ? {} : { trace };
    const result = await throttle.run(
      { username, address: peer?.address },
      () => chain.updatePassword({ username, currentPassword, newPassword, ...from, beforeChange: endOthers }),
      ({ outcome }) => (outcome === "updated" ? "succeeded" : outcome === "wrong-password" ? "failed" : "neither"),
    );
    if (result === undefined || result.outcome === "wrong-password") {
      const credentials = {
        type: "password",
        username,
        content: currentPassword,
        ...from,
        creator,
        ...traced,
      } as const;
      audit.refused({ credentials, verdicts: [] }, result === undefined ? "throttled" : "credentials");
      return { outcome: "refused", problems: ["The current password is wrong."] };
    }
    if (result.outcome !== "updated") return { outcome: "not-updatable" };
    // Once more, for logins that the former password let in while it was being replaced.
    await endOthers();
    return { outcome: "updated" };

    /** Before the change too: whatever fails then, no session of the former password outlives it. */
    function endOthers(version?: string): Promise<void> {
      return sessions.endOthers(username, session, version);
    }
  }

  return { isPossible, update };
}
