/** What a case of `endpointCases` receives. */
export interface EndpointCaseContext {
  /**
   * URL of the endpoint. The cases send the requests that a service sends (4.7). They change nothing except counters of
   * failed logins.
   */
  readonly url: string;
  /** Request headers that authorize the service, such as `Authorization: token <API_KEY>` (5.2). */
  readonly headers?: Readonly<Record<string, string>>;
  /** The service's HTTP Basic credentials (5.2). They take precedence over an `Authorization` in `headers`. */
  readonly username?: string;
  readonly password?: string;
  /**
   * A test account that the endpoint knows. The password has 4 characters or more, because the cases also try a part of
   * it. The cases send at most 13 logins with wrong credentials, which may lock the account.
   */
  readonly account?: { readonly username: string; readonly password: string };
  /** Sends the requests. Default: `fetch` of the platform. */
  readonly fetch?: typeof fetch;
  /** Time limit for a complete response, in seconds. Default: 30, as in a service. */
  readonly timeoutSeconds?: number;
  /** Called with every complete response, and its duration from the first byte of the request. */
  readonly onResponse?: (response: { readonly status: number; readonly milliseconds: number }) => void;
}

/** What a case needs: a known account, or authorization of the service. */
export type EndpointCaseNeed = "account" | "authorization";

/**
 * One promise of an authentication endpoint (4.7, 7.2). It does not depend on a test runner: `run` rejects if the
 * endpoint breaks the promise.
 */
export interface EndpointCase {
  /** A sentence that states the promise; unique in the list. */
  readonly name: string;
  /** If the context lacks this, skip the case; see {@link isPlayable}. */
  readonly needs?: EndpointCaseNeed;
  /** If this case fails, no other case can succeed, so they need not run. */
  readonly vital?: true;
  /**
   * Resolves with nothing, or with a note about behaviour that the interface allows but the operator should check.
   * Rejects with an explanation of what is wrong.
   *
   * Neither text contains a secret. Both may quote what the endpoint sent, so escape them before you print them on a
   * terminal.
   */
  run(context: EndpointCaseContext): Promise<string | undefined>;
}

/** Minimum length of the test account's password, in characters. */
export const MIN_PASSWORD_LENGTH = 4;

/** Whether a part of the password is still long enough to be a password. */
export function isPasswordLongEnough(password: string): boolean {
  return Array.from(password).length >= MIN_PASSWORD_LENGTH;
}

/** Whether a context has what a case needs. */
export function isPlayable({ needs }: EndpointCase, { account, headers = {}, username }: EndpointCaseContext): boolean {
  if (needs === "account") return account !== undefined;
  return needs === undefined || username !== undefined || Object.keys(headers).length > 0;
}
