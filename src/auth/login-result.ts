import type { AccountSettings } from "../contracts/account.ts";
import type { Accepted, Credentials, Rejected } from "../contracts/authenticator.ts";
import type { RefusalReason } from "../contracts/events/logins.ts";
import { describeAccountIssues, parseAccountSettings } from "../schemas/account.ts";
import type { Login } from "./login.ts";
import type { LoginAttempt, LoginAudit } from "./login-audit.ts";
import type { LoginVerdict, SecondFactorProblem } from "./second-factor/second-factor.ts";
import { Throttled } from "./throttle.ts";

/** What the rejecting method lets the user know. The service shows it only with the option `publicError` (7.2). */
export type PublicError = Pick<Rejected, "message" | "publicResponse">;

/** The result of verifying credentials. */
export type LoginResult =
  | { readonly outcome: "accepted"; readonly login: Login; readonly attempt: LoginAttempt }
  | LoginRefused;

/** The result of verifying credentials that were not accepted. */
export type LoginRefused = { readonly outcome: "refused" } & Refusal;

/** What a client may learn about a refusal. */
export interface Refusal {
  readonly publicError?: PublicError;
  /** When the client can try again, if too many logins from its own network have failed. In seconds. */
  readonly retryAfterSeconds?: number;
  /** The password is right. */
  readonly secondFactor?: SecondFactorProblem;
}

/** Options of {@link createLoginResults}. */
export interface LoginResultsOptions {
  readonly audit: LoginAudit;
  /**
   * Returns why the service cannot use an account with these settings, as text for the operator; `undefined` if it can.
   */
  readonly findAccountProblem: (username: string, settings: AccountSettings) => string | undefined;
}

/** Turns verdicts of the chain into results of logins, and reports the refusals to the audit. */
export interface LoginResults {
  /** An account with settings that the service cannot use is refused like wrong credentials (CONTRACT 9.1). */
  toLoginResult(credentials: Credentials, verdict: LoginVerdict | Throttled): LoginResult;
  /** Refuses a login that was not tried, because too many have failed. */
  refuseThrottled(credentials: Credentials, throttled: Throttled): LoginRefused;
}

/** Creates the login results of a service. */
export function createLoginResults({ audit, findAccountProblem }: LoginResultsOptions): LoginResults {
  function refuseThrottled(credentials: Credentials, { retryAfterSeconds }: Throttled): LoginRefused {
    audit.refused({ credentials, verdicts: [] }, "throttled");
    return { outcome: "refused", ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }

  function toLoginResult(credentials: Credentials, verdict: LoginVerdict | Throttled): LoginResult {
    if (verdict instanceof Throttled) return refuseThrottled(credentials, verdict);
    const attempt: LoginAttempt = { credentials, verdicts: verdict.verdicts };
    if (verdict.outcome === "accepted") return admitSettings(attempt, verdict);
    audit.refused(attempt, toRefusalReason(verdict));
    if (verdict.outcome === "incomplete") return { outcome: "refused", secondFactor: verdict.problem };
    if (verdict.outcome !== "rejected") return { outcome: "refused" };
    const { message, publicResponse } = verdict;
    return {
      outcome: "refused",
      publicError: {
        ...(message !== undefined && { message }),
        ...(publicResponse !== undefined && { publicResponse }),
      },
    };
  }

  /** Refuses settings with an unknown member: the member could forbid something (2.4). */
  function admitSettings(attempt: LoginAttempt, { account: given, version }: Accepted): LoginResult {
    const { username } = attempt.credentials;
    const settings = parseAccountSettings(given);
    const problem = settings.success
      ? findAccountProblem(username, settings.data)
      : describeAccountIssues(settings.error).join("; ");
    if (settings.success && problem === undefined) {
      const versioned = version === undefined ? {} : { version };
      return { outcome: "accepted", login: { username, settings: settings.data, ...versioned }, attempt };
    }
    audit.refused(attempt, "account", problem);
    return { outcome: "refused" };
  }

  return { toLoginResult, refuseThrottled };
}

/** Returns why a verdict refuses a login, for the events. */
export function toRefusalReason(verdict: LoginVerdict): RefusalReason {
  if (verdict.outcome === "incomplete") return verdict.problem;
  if (verdict.outcome !== "rejected") return "unknown";
  return verdict.reason ?? "credentials";
}
