import type { AccountSettings } from "../contracts/account.ts";
import type { Credentials } from "../contracts/authenticator.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Logger } from "../contracts/logger.ts";
import { parseAuthorization } from "../http/authorization.ts";
import { readSessionCookie } from "../http/cookie.ts";
import { accountSettingsSchema } from "../wire/account.ts";
import type { AuthenticationChain } from "./chain.ts";
import type { Sessions } from "./sessions.ts";

/** The ways to say who is asking, the strongest first (CONTRACT 6.1). */
export type Means = "session" | "basic" | "cookie" | "certificate";

/** An account that credentials were accepted for. */
export interface Login {
  readonly username: string;
  readonly settings: AccountSettings;
}

/** What came of a request's credentials. */
export type Identification =
  | { readonly outcome: "identified"; readonly login: Login; readonly means: Means }
  /** Without credentials, or with a cookie of no live session. */
  | { readonly outcome: "anonymous" }
  | { readonly outcome: "refused"; readonly means: Means | "authorization" };

/** Who is asking. */
export interface Identifier {
  /**
   * Judges a request's credentials in the order of CONTRACT 6.1. An `Authorization` header that does not hold is
   * refused, never replaced by a weaker means.
   * @throws HttpError `unavailable`.
   */
  identify(request: Request, connection: Connection): Promise<Identification>;
  /** The account behind credentials; `undefined` when they are refused. @throws HttpError `unavailable`. */
  authenticate(credentials: Credentials): Promise<Login | undefined>;
}

/** Makes the identifier of a service. */
export function createIdentifier(chain: AuthenticationChain, sessions: Sessions, logger: Logger): Identifier {
  async function authenticate(credentials: Credentials): Promise<Login | undefined> {
    const verdict = await chain.authenticate(credentials);
    if (verdict.outcome !== "accepted") return undefined;
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

  async function identifyBy(means: Means, login: Promise<Login | undefined>): Promise<Identification> {
    const found = await login;
    return found ? { outcome: "identified", login: found, means } : { outcome: "refused", means };
  }

  async function identify(request: Request, { peer, clientCertificate }: Connection): Promise<Identification> {
    const from = peer === undefined ? {} : { peer };
    const authorization = parseAuthorization(request.headers.get("authorization"));
    switch (authorization?.scheme) {
      case "session":
        return identifyBy("session", sessions.find(authorization.id));
      case "basic": {
        const { username, password } = authorization;
        return identifyBy("basic", authenticate({ type: "password", username, content: password, ...from }));
      }
      case "invalid":
        return { outcome: "refused", means: "authorization" };
    }

    const cookie = readSessionCookie(request.headers);
    const session = cookie === undefined ? undefined : await sessions.find(cookie);
    if (session) return { outcome: "identified", login: session, means: "cookie" };

    if (clientCertificate === undefined) return { outcome: "anonymous" };
    const { commonName, pem } = clientCertificate;
    const credentials: Credentials = { type: "ssl-certificate", username: commonName, content: pem, ...from };
    const byCertificate = await identifyBy("certificate", authenticate(credentials));
    // Browsers offer a certificate unasked: one that logs nobody in leaves the other ways open (CONTRACT 6.7).
    return byCertificate.outcome === "identified" ? byCertificate : { outcome: "anonymous" };
  }

  return { identify, authenticate };
}
