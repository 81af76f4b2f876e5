import type { ApiKey } from "../contracts/api-keys.ts";
import type { Login } from "./login.ts";
import type { LoginAttempt } from "./login-audit.ts";
import type { Refusal } from "./login-result.ts";

/** How a request can identify its account, the strongest scheme first (CONTRACT 6.1). */
export type AuthScheme = "identity" | "session" | "basic" | "bearer" | "cookie" | "certificate" | "link" | "anonymous";

/** The result of identifying a request. */
export type Identification =
  | {
      readonly outcome: "identified";
      readonly login: Login;
      readonly scheme: AuthScheme;
      /** The ID of the session, if a session identified the request. */
      readonly session?: string;
      /** The API key, if one identified the request. */
      readonly key?: ApiKey;
      /** The login attempt, if the request itself carried a password or a certificate. */
      readonly attempt?: LoginAttempt;
      /** The attempt of a login that is remembered: its account is admitted already. */
      readonly toAttempt?: () => LoginAttempt;
      /** Remembers the login. Call it when the account is admitted. Returns whether the login was not reported yet. */
      readonly remember?: () => boolean;
    }
  /** The request has no credentials, a cookie without a live session, or a certificate that matches no account. */
  | ({ readonly outcome: "anonymous" } & Refusal)
  | ({
      readonly outcome: "refused";
      readonly scheme: "session" | "basic" | "bearer" | "authorization" | "no-session";
      /** The error that the client gets. Default: the usual one of the scheme. */
      readonly code?: "key-invalid" | "key-expired" | "key-required";
    } & Refusal);
