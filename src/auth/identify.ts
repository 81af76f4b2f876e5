import type { Credentials } from "../contracts/authenticator.ts";
import type { ClientCertificate, Connection } from "../contracts/connection.ts";
import type { RefusalReason } from "../contracts/events/logins.ts";
import type { Logger } from "../contracts/logger.ts";
import { parseAuthorization } from "../http/authorization.ts";
import type { SessionCookie } from "../http/cookie.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import type { BasicCache, BasicVerdict } from "./basic-cache.ts";
import { type AuthenticationChain, isPlausible } from "./chain.ts";
import type { Identification } from "./identification.ts";
import type { KeyIdentifier } from "./keys/identify-key.ts";
import { toKeyId } from "./keys/key-text.ts";
import type { Login } from "./login.ts";
import type { LoginAttempt } from "./login-audit.ts";
import { createLoginResults, type LoginResult, type LoginResultsOptions, toRefusalReason } from "./login-result.ts";
import type { CompleteVerdict, LoginVerdict } from "./second-factor/second-factor.ts";
import type { Sessions } from "./sessions/types.ts";
import { type AttemptResult, type AttemptSource, type LoginThrottle, Throttled } from "./throttle.ts";

/** Finds out which account a request is for. */
export interface Identifier {
  /**
   * Verifies a request's credentials in the order of CONTRACT 6.1. An invalid `Authorization` header is refused: the
   * identifier does not fall back to a cookie or certificate.
   * @throws HttpError `unavailable`.
   */
  identify(request: Request, connection: Connection): Promise<Identification>;
  /**
   * Identifies by session only: any other `Authorization` is refused without verifying it. @throws HttpError
   * `unavailable`.
   */
  identifySession(request: Request, connection: Connection): Promise<Identification>;
  /**
   * Verifies credentials that came with a request. Passwords are throttled (CONTRACT 6.6). An account with invalid
   * settings is refused like wrong credentials (CONTRACT 9.1). This method reports refusals to the audit; the caller
   * reports accepted logins. `oneTimePassword`, or a recovery code, counts only for an account that needs one.
   * @throws HttpError `unavailable`.
   */
  authenticate(
    request: Request,
    connection: Connection,
    presented: PresentedCredentials,
    oneTimePassword?: string,
  ): Promise<LoginResult>;
}

/** Credentials as the client sends them. */
export type PresentedCredentials = Pick<Credentials, "type" | "username" | "content">;

/** Options of {@link createIdentifier}. */
export interface IdentifierOptions extends LoginResultsOptions {
  readonly chain: AuthenticationChain;
  readonly basicCache: BasicCache;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  /** Identifies by API keys. Absent: no method keeps keys. */
  readonly byKey: KeyIdentifier | undefined;
  readonly completeVerdict: CompleteVerdict;
  /** Whether an account takes no password by HTTP Basic, but an API key in its place. */
  readonly needsKey: (login: Login) => boolean;
  /** Returns the name of the account that a certificate logs in; `undefined` for none. */
  readonly usernameOfCertificate: (certificate: ClientCertificate) => string | undefined;
  /** The server, and the component of the server that clients log in to. */
  readonly server: { readonly uuid: string };
  readonly component: { readonly uuid: string };
  readonly cookie: SessionCookie;
  /** Receives errors that `usernameOfCertificate` throws. */
  readonly logger: Logger;
}

/** Creates the identifier of a service. */
export function createIdentifier(options: IdentifierOptions): Identifier {
  const { chain, basicCache, sessions, throttle, audit, byKey, completeVerdict, needsKey } = options;
  const { usernameOfCertificate, server, component, cookie, logger } = options;
  const { toLoginResult, refuseThrottled } = createLoginResults(options);

  /** SSH keys and certificates cannot be guessed, so only passwords are throttled here; API keys are elsewhere. */
  async function verify(
    credentials: Credentials,
    request: Request,
    oneTimePassword: string | undefined,
  ): Promise<LoginVerdict | Throttled> {
    const attempt = async () => completeVerdict(await chain.authenticate(credentials), oneTimePassword);
    if (credentials.type !== "password") return attempt();
    return throttle.run(toSource(credentials, credentials.peer?.address, request), attempt, toAttemptResult);
  }

  function toSource(presented: PresentedCredentials, address: string | undefined, request: Request): AttemptSource {
    return { username: isPlausible(presented) ? presented.username : undefined, address, request };
  }

  function toCredentials(request: Request, connection: Connection, presented: PresentedCredentials): Credentials {
    const { peer } = connection;
    const trace = readTrace(request.headers);
    return {
      ...presented,
      ...(peer !== undefined && { peer }),
      creator: { uuid: component.uuid, type: isSecure(request, connection) ? "https" : "http" },
      server,
      ...(trace !== undefined && { trace }),
    };
  }

  async function authenticate(
    request: Request,
    connection: Connection,
    presented: PresentedCredentials,
    oneTimePassword?: string,
  ): Promise<LoginResult> {
    const credentials = toCredentials(request, connection, presented);
    return toLoginResult(credentials, await verify(credentials, request, oneTimePassword));
  }

  async function identifyByBasic(
    request: Request,
    connection: Connection,
    { username, password }: { readonly username: string; readonly password: string },
  ): Promise<Identification> {
    const id = byKey && toKeyId(password);
    if (byKey && id !== undefined) return byKey.identify(request, connection, { text: password, id, username });
    const presented = { type: "password", username, content: password } as const;
    let attempted: Credentials | undefined;
    const toAttempted = () => {
      attempted ??= toCredentials(request, connection, presented);
      return attempted;
    };
    const address = connection.peer?.address;
    const source = toSource(presented, address, request);
    const credentials = { username, password, address, isSecure: isSecure(request, connection) };
    const verify = () => basicCache.verify(credentials, () => chain.authenticate(toAttempted()));
    const basic = await throttle.run(source, verify, toBasicResult, basicCache.recall(credentials));
    if (basic instanceof Throttled) return { ...refuseThrottled(toAttempted(), basic), scheme: "basic" };
    if (basic.outcome === "failed") throw basic.error;
    if (basic.outcome === "remembered") {
      const toAttempt = () => ({ credentials: toAttempted(), verdicts: [] });
      return { outcome: "identified", login: basic.login, scheme: "basic", toAttempt };
    }
    const { verdict } = basic;
    if (verdict.outcome === "second-factor") {
      return refuseWithoutKey({ credentials: toAttempted(), verdicts: verdict.verdicts });
    }
    const result = toLoginResult(toAttempted(), verdict);
    if (result.outcome === "refused") return { ...result, scheme: "basic" };
    const { login, attempt } = result;
    if (needsKey(login)) return refuseWithoutKey(attempt);
    const remember = () => basic.remember(login);
    return { outcome: "identified", login, scheme: "basic", attempt, remember };
  }

  /** The password is right, but HTTP Basic takes only a key. */
  function refuseWithoutKey(attempt: LoginAttempt): Identification {
    audit.refused(attempt, "key-required");
    return { outcome: "refused", scheme: "basic", code: "key-required" };
  }

  async function identifyByToken(request: Request, connection: Connection, text: string): Promise<Identification> {
    const id = toKeyId(text);
    if (byKey === undefined || id === undefined) return { outcome: "refused", scheme: "authorization" };
    return byKey.identify(request, connection, { text, id });
  }

  async function findSession(id: string, request: Request, connection: Connection): Promise<Login | undefined> {
    return sessions.find(id, (expired) => audit.sessionEnded("by-time", expired, request, connection));
  }

  async function identifyByHeader(session: string, request: Request, connection: Connection): Promise<Identification> {
    const login = await findSession(session, request, connection);
    const scheme = "session";
    return login ? { outcome: "identified", login, scheme, session } : { outcome: "refused", scheme };
  }

  async function identifyByCookie(request: Request, connection: Connection): Promise<Identification> {
    const session = cookie.read(request.headers);
    const login = session === undefined ? undefined : await findSession(session, request, connection);
    if (session === undefined || login === undefined) return { outcome: "anonymous" };
    return { outcome: "identified", login, scheme: "cookie", session };
  }

  async function identifySession(request: Request, connection: Connection): Promise<Identification> {
    const authorization = parseAuthorization(request.headers.get("authorization"));
    if (authorization === undefined) return identifyByCookie(request, connection);
    if (authorization.scheme === "session") return identifyByHeader(authorization.id, request, connection);
    return { outcome: "refused", scheme: "no-session" };
  }

  async function identify(request: Request, connection: Connection): Promise<Identification> {
    const authorization = parseAuthorization(request.headers.get("authorization"));
    switch (authorization?.scheme) {
      case "session":
        return await identifyByHeader(authorization.id, request, connection);
      case "basic":
        return await identifyByBasic(request, connection, authorization);
      case "bearer":
        return await identifyByToken(request, connection, authorization.token);
      case "invalid":
        return { outcome: "refused", scheme: "authorization" };
    }
    const byCookie = await identifyByCookie(request, connection);
    return byCookie.outcome === "identified" ? byCookie : await identifyByCertificate(request, connection);
  }

  /** Browsers send a certificate on their own, so one that matches no account is not a refused login (CONTRACT 6.7). */
  async function identifyByCertificate(request: Request, connection: Connection): Promise<Identification> {
    const { clientCertificate: certificate } = connection;
    const username = certificate && nameOf(certificate);
    if (certificate === undefined || username === undefined) return { outcome: "anonymous" };
    const presented: PresentedCredentials = { type: "ssl-certificate", username, content: certificate.pem };
    const result = await authenticate(request, connection, presented);
    if (result.outcome === "refused") return { ...result, outcome: "anonymous" };
    return { outcome: "identified", login: result.login, scheme: "certificate", attempt: result.attempt };
  }

  /** Calls the host's function. If it throws, or returns no text, the certificate matches no account. */
  function nameOf(certificate: ClientCertificate): string | undefined {
    try {
      const name: unknown = usernameOfCertificate(certificate);
      return typeof name === "string" ? name : undefined;
    } catch (error) {
      logger.error({ error }, "The user name of a client certificate could not be determined.");
      return undefined;
    }
  }

  return { identify, identifySession, authenticate };
}

/** Refusals of attempts in which nothing was guessed. */
const UNTESTED: readonly RefusalReason[] = ["unavailable", "second-factor-required", "second-factor-throttled"];

/**
 * An attempt that no method could verify counts neither as success nor as failure. Nor does a right password without
 * the second factor: otherwise it would clear the failures of those who guess the latter.
 */
function toAttemptResult(verdict: LoginVerdict): AttemptResult {
  if (verdict.outcome === "accepted") return "succeeded";
  const reason = toRefusalReason(verdict);
  return UNTESTED.includes(reason) ? "neither" : "failed";
}

/** A remembered login clears no failures: its client would clear those of an attacker with every request. */
function toBasicResult(basic: BasicVerdict): AttemptResult {
  if (basic.outcome === "remembered" || (basic.outcome === "verified" && basic.isShared)) return "neither";
  const verdict = basic.outcome === "verified" ? basic.verdict : undefined;
  if (verdict?.outcome === "second-factor") return "neither";
  const result = verdict === undefined ? "neither" : toAttemptResult(verdict);
  return result === "neither" && basic.mustCount ? "failed" : result;
}
