import type { Authenticator, Verdict } from "../contracts/authenticator.ts";
import type { MethodVerdict } from "../contracts/events/logins.ts";
import { accountTotpSchema } from "../schemas/totp.ts";

/** Checks at run time, as methods may be written in JavaScript: a malformed verdict must not log anyone in. */
export function isVerdict(value: Verdict | undefined): boolean {
  if (value?.outcome === "accepted") return isObject(value.account);
  if (value?.outcome === "second-factor") {
    return isObject(value.account) && accountTotpSchema.safeParse(value.secondFactor?.totp).success;
  }
  return value?.outcome === "unknown" || value?.outcome === "rejected";
}

/** Returns a verdict as events have it: with its method, and without the account. */
export function toMethodVerdict({ name: method }: Authenticator, verdict: Verdict): MethodVerdict {
  const { audit } = verdict;
  const isAccepted = verdict.outcome === "accepted" || verdict.outcome === "second-factor";
  const message = isAccepted ? undefined : verdict.message;
  return {
    method,
    outcome: isAccepted ? "accepted" : verdict.outcome,
    ...(verdict.outcome === "rejected" && { reason: verdict.reason ?? "credentials" }),
    ...(message !== undefined && { message }),
    ...(audit !== undefined && { audit }),
  };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
