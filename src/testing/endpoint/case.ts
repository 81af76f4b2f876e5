/** What a case of `endpointCases` is given. */
export interface EndpointCaseContext {
  /** The endpoint. What is asked of it is what a service asks (4.7); nothing is changed by it, but failed logins are. */
  readonly url: string;
  /** The header fields by which the service proves itself to the endpoint, such as `Authorization: token <API_KEY>` (5.2). */
  readonly headers?: Readonly<Record<string, string>>;
  /** The service's own HTTP Basic credentials (5.2); they win over an `Authorization` in `headers`. */
  readonly username?: string;
  readonly password?: string;
  /**
   * An account for tests that the endpoint knows by a password, of 4 characters or more: part of one must not be nothing. No more than
   * 13 logins with wrong credentials follow, which may lock it.
   */
  readonly account?: { readonly username: string; readonly password: string };
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** How long the endpoint has for a whole answer. Default: 30, as a service has. */
  readonly timeoutSeconds?: number;
  /** Is told of every whole answer, and how long it took from the first byte of the request. */
  readonly onAnswer?: (response: { readonly status: number; readonly milliseconds: number }) => void;
}

/** What a case cannot do without: a known account, or means by which the service proves itself. */
export type EndpointCaseNeed = "account" | "authorization";

/** One promise of an authentication endpoint (4.7, 7.2). It knows no test runner: `run` rejects with what the endpoint got wrong. */
export interface EndpointCase {
  /** The promise; unique in the list. */
  readonly name: string;
  /** Without it the case is to be skipped; {@link isPlayable} tells. */
  readonly needs?: EndpointCaseNeed;
  /** When this one fails no other can succeed: they need not be played. */
  readonly vital?: true;
  /**
   * Resolves with nothing, or with a note: of what the interface leaves free, but which is worth a look. Rejects with what is wrong.
   * Neither text holds a secret, but it may quote what the endpoint sent: not fit for a terminal as it is.
   */
  run(context: EndpointCaseContext): Promise<string | undefined>;
}

/** Of the password of an account for tests, in characters. */
export const MIN_PASSWORD_LENGTH = 4;

/** Whether what is left of the password, cut, is a password still. */
export function isPasswordLongEnough(password: string): boolean {
  return Array.from(password).length >= MIN_PASSWORD_LENGTH;
}

/** Whether a context has what a case needs. */
export function isPlayable({ needs }: EndpointCase, { account, headers = {}, username }: EndpointCaseContext): boolean {
  if (needs === "account") return account !== undefined;
  return needs === undefined || username !== undefined || Object.keys(headers).length > 0;
}
