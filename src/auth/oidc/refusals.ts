import type { SignOnRefusal } from "../../contracts/sign-on/single-sign-on.ts";

/** Why an exchange with the provider has failed. */
export interface OidcRefusal {
  readonly reason: SignOnRefusal;
  /** For the operator: codes alone, as texts of the provider could hold what belongs to the user. */
  readonly details: string;
}

/** Members of the errors of `openid-client` and of `fetch`. */
interface LibraryError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** The user or the provider has said no (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6). */
const DENIALS: readonly unknown[] = [
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
];
const BUSY: readonly unknown[] = ["temporarily_unavailable", "server_error"];

/** Finds out from an error of the library why a login has failed. */
export function toOidcRefusal(thrown: unknown): OidcRefusal {
  const error = (thrown ?? {}) as LibraryError;
  return { reason: toReason(error), details: describe(error) };
}

function toReason({ name, code, error, status, cause }: LibraryError): SignOnRefusal {
  if (BUSY.includes(error)) return "unavailable";
  if (name === "AuthorizationResponseError") return DENIALS.includes(error) ? "denied" : "invalid";
  // The code was used, or its time is over (RFC 6749 5.2).
  if (error === "invalid_grant") return "outdated";
  if (name === "TypeError" || code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT") return "unavailable";
  if (name === "ClientError" && code === undefined) return "unavailable";
  const failed = status ?? (cause as LibraryError | undefined)?.status;
  return typeof failed === "number" && (failed >= 500 || failed === 429) ? "unavailable" : "invalid";
}

function describe({ name, message, code, error, cause }: LibraryError): string {
  const { code: ofCause, message: why } = (cause ?? {}) as LibraryError;
  const known = [name, code, error, ofCause].filter(isCode);
  // Texts of the library itself. That of an answer's error is fixed too.
  const texts = [message, name === "ClientError" ? why : undefined].filter((text) => typeof text === "string");
  return [...known, ...texts].join(": ").slice(0, 300);
}

function isCode(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
}
