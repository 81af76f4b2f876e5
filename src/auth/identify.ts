import type { AccountSettings } from "../contracts/account.ts";
import type { Credentials, Verdict } from "../contracts/authenticator.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Logger } from "../contracts/logger.ts";
import { parseAuthorization } from "../http/authorization.ts";
import { readSessionCookie } from "../http/cookie.ts";
import { accountSettingsSchema } from "../wire/account.ts";
import type { AuthenticationChain } from "./chain.ts";
import type { Sessions } from "./sessions.ts";
import type { LoginThrottle } from "./throttle.ts";

/** The ways to say who is asking, the strongest first (CONTRACT 6.1). */
export type Means = "session" | "basic" | "cookie" | "certificate";

/** An account that credentials were accepted for. */
export interface Login {
  readonly username: string;
  readonly settings: AccountSettings;
}

/** What came of a request's credentials. */
export type Identification =
  | {
      readonly outcome: "identified";
      readonly login: Login;
      readonly means: Means;
      /** The ID of the session, where it was one. */
      readonly session?: string;
    }
  /** Without credentials, or with a cookie of no live session. */
  | { readonly outcome: "anonymous" }
  | { readonly outcome: "refused"; readonly means: Means | "authorization" | "no-session" };

/** Who is asking. */
export interface Identifier {
  /**
   * Judges a request's credentials in the order of CONTRACT 6.1. An `Authorization` header that does not hold is
   * refused, never replaced by a weaker means.
   * @throws HttpError `unavailable`.
   */
  identify(request: Request, connection: Connection): Promise<Identification>;
  /** The same by sessions alone: any other `Authorization` is refused unheard. @throws HttpError `unavailable`. */
  identifySession(request: Request): Promise<Identification>;
  /**
   * The account behind credentials; `undefined` when they are refused. Passwords are throttled (CONTRACT 6.6).
   * @throws HttpError `unavailable`.
   */
  authenticate(credentials: Credentials): Promise<Login | undefined>;
}

/** What identifies. */
export interface IdentifierOptions {
  readonly chain: AuthenticationChain;
  readonly sessions: Sessions;
  readonly throttle: LoginThrottle;
  readonly logger: Logger;
}

/** Makes the identifier of a service. */
export function createIdentifier({ chain, sessions, throttle, logger }: IdentifierOptions): Identifier {
  /** A certificate is nothing to guess at. */
  async function judge(credentials: Credentials): Promise<Verdict | undefined> {
    const { type, username, peer } = credentials;
    if (type !== "password") return chain.authenticate(credentials);
    const who = { username, address: peer?.address };
    return throttle.run(
      who,
      () => chain.authenticate(credentials),
      ({ outcome }) => (outcome === "accepted" ? "succeeded" : "failed"),
    );
  }

  async function authenticate(credentials: Credentials): Promise<Login | undefined> {
    const verdict = await judge(credentials);
    if (verdict?.outcome !== "accepted") return undefined;
    const { username } = credentials;
    // A member that is ignored could be one that forbids something (2.4).
    const settings = accountSettingsSchema.safeParse(verdict.account);
    if (settings.success) return { username, settings: settings.data };
    logger.error(
      { username, issues: settings.error.issues },
      "The account's settings are invalid; the login is refused.",
    );
    return undefined;
  }

  async function identifyBy(means: Means, credentials: Credentials): Promise<Identification> {
    const login = await authenticate(credentials);
    return login ? { outcome: "identified", login, means } : { outcome: "refused", means };
  }

  async function identifyByHeader(session: string): Promise<Identification> {
    const login = await sessions.find(session);
    const means = "session";
    return login ? { outcome: "identified", login, means, session } : { outcome: "refused", means };
  }

  async function identifyByCookie(request: Request): Promise<Identification> {
    const session = readSessionCookie(request.headers);
    const login = session === undefined ? undefined : await sessions.find(session);
    if (session === undefined || login === undefined) return { outcome: "anonymous" };
    return { outcome: "identified", login, means: "cookie", session };
  }

  async function identifySession(request: Request): Promise<Identification> {
    const authorization = parseAuthorization(request.headers.get("authorization"));
    if (authorization === undefined) return identifyByCookie(request);
    if (authorization.scheme === "session") return identifyByHeader(authorization.id);
    return { outcome: "refused", means: "no-session" };
  }

  async function identify(request: Request, { peer, clientCertificate }: Connection): Promise<Identification> {
    const from = peer === undefined ? {} : { peer };
    const authorization = parseAuthorization(request.headers.get("authorization"));
    switch (authorization?.scheme) {
      case "session":
        return identifyByHeader(authorization.id);
      case "basic": {
        const { username, password } = authorization;
        return identifyBy("basic", { type: "password", username, content: password, ...from });
      }
      case "invalid":
        return { outcome: "refused", means: "authorization" };
    }

    const byCookie = await identifyByCookie(request);
    if (byCookie.outcome === "identified" || clientCertificate === undefined) return byCookie;
    const { commonName, pem } = clientCertificate;
    const credentials: Credentials = { type: "ssl-certificate", username: commonName ?? "", content: pem, ...from };
    const byCertificate = await identifyBy("certificate", credentials);
    // Browsers offer a certificate unasked: one that logs nobody in leaves the other ways open (CONTRACT 6.7).
    return byCertificate.outcome === "identified" ? byCertificate : { outcome: "anonymous" };
  }

  return { identify, identifySession, authenticate };
}
