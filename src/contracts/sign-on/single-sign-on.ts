import type { Identity } from "../identity.ts";

/**
 * A login at another site, the provider, such as one of OpenID Connect. The login page has a button for it. Both
 * functions may be called before the `start` of their method.
 */
export interface SingleSignOn {
  /** Names the login in its URLs, `/__svc__/oidc/<id>/start` and `…/callback`: lower-case letters, digits and `-`. */
  readonly id: string;
  /** The name of the provider on the login page. */
  readonly label: string;
  /**
   * Whether its accounts may have names that another method finds by its `lookup`. Default: false. Such a login is
   * refused, as it would lead to the files of the other account.
   */
  readonly mayShareNames?: boolean;
  /** Starts a login. Rejects with an `HttpError` if the provider is not available. */
  start(request: SignOnRequest): Promise<StartedSignOn>;
  /**
   * Verifies what the provider has sent the browser back with. If it rejects, the response is the `HttpError`, or a
   * blank 500 for any other error, and event 40000 has the reason `failure`.
   */
  finish(answer: SignOnAnswer): Promise<SignOnVerdict>;
}

/** What a login at a provider starts with. */
export interface SignOnRequest {
  /** The absolute URL that the provider sends the browser back to. */
  readonly redirectUri: string;
  /** The path of the page that the login is for. `finish` returns it. */
  readonly returnTo?: string | undefined;
}

/** A login that has started. */
export interface StartedSignOn {
  /** The absolute URL of the provider to redirect to. */
  readonly location: string;
  /**
   * What `finish` needs to know. Browsers keep it in a cookie for 10 minutes, so it must be encrypted, and of letters,
   * digits, `-`, `_` and `.` alone.
   */
  readonly sealed: string;
}

/** What a browser comes back with. */
export interface SignOnAnswer {
  /** The query of the URL, without its `?`. */
  readonly query: string;
  /** The text of {@link StartedSignOn}. Absent: the browser has none. */
  readonly sealed: string | undefined;
}

/**
 * Why a login at a provider fails.
 *
 * - `outdated`: the answer belongs to no login that this browser has started, or not any more.
 * - `denied`: the user has cancelled the login, or the provider has refused it.
 * - `unknown`: the user has no account here.
 * - `invalid`: the provider has sent an invalid answer.
 * - `unavailable`: the provider is down or busy.
 */
export type SignOnRefusal = "outdated" | "denied" | "unknown" | "invalid" | "unavailable";

/** The result of a login at a provider. */
export type SignOnVerdict = { readonly returnTo?: string | undefined } & (
  | { readonly outcome: "accepted"; readonly identity: Identity }
  | {
      readonly outcome: "rejected";
      readonly reason: SignOnRefusal;
      /** For the operator only. It must hold no secret. */
      readonly details?: string;
    }
);
