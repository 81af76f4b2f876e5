import type { Authenticator, Verdict } from "../contracts/authenticator.ts";
import type { MethodVerdict } from "../contracts/events/logins.ts";

/** Checks at run time, as methods may be written in JavaScript: a malformed verdict must not log anyone in. */
export function isVerdict(value: Verdict | undefined): boolean {
  if (value?.outcome === "accepted") return typeof value.account === "object" && value.account !== null;
  return value?.outcome === "unknown" || value?.outcome === "rejected";
}

/** Returns a verdict as events have it: with its method, and without the account. */
export function toMethodVerdict({ name: method }: Authenticator, verdict: Verdict): MethodVerdict {
  const { outcome, audit } = verdict;
  const message = verdict.outcome === "accepted" ? undefined : verdict.message;
  return {
    method,
    outcome,
    ...(verdict.outcome === "rejected" && { reason: verdict.reason ?? "credentials" }),
    ...(message !== undefined && { message }),
    ...(audit !== undefined && { audit }),
  };
}
