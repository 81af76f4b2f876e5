import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Identify, Identity } from "../contracts/identity.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import { isPlausibleName } from "./chain.ts";
import type { Identification } from "./identification.ts";
import type { Identifier } from "./identify.ts";
import type { LoginAttempt } from "./login-audit.ts";
import { createReportedLogins } from "./reported-logins.ts";

/** Options of {@link withHostIdentity}. */
export interface HostIdentityOptions {
  /** The host's function. */
  readonly identify: Identify;
  /** Returns the account of checked settings, the same one for equal settings. @throws HttpError `denied`. */
  readonly resolve: (username: string, settings: AccountSettings) => object;
  /** Checks settings. @throws HttpError `denied`. */
  readonly check: (settings: AccountSettings) => AccountSettings;
  /** The component that clients log in to. */
  readonly component: { readonly uuid: string };
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Asks the host who sends a request before the service asks its own methods. An identity is not throttled, starts no
 * session and has none, so it cannot change a password.
 */
export function withHostIdentity(
  own: Identifier,
  { identify: ask, resolve, check, component, clock }: HostIdentityOptions,
): Identifier {
  const reported = createReportedLogins(resolve, clock);

  async function identify(request: Request, connection: Connection): Promise<Identification> {
    const identity = await askHost(request, connection);
    return identity === undefined ? own.identify(request, connection) : toIdentification(identity, request, connection);
  }

  async function identifySession(request: Request, connection: Connection): Promise<Identification> {
    const identity = await askHost(request, connection);
    if (identity === undefined) return own.identifySession(request, connection);
    return { outcome: "refused", scheme: "no-session" };
  }

  async function askHost(request: Request, connection: Connection): Promise<Identity | undefined> {
    const identity = (await ask(request, connection)) ?? undefined;
    if (identity !== undefined && !isPlausibleName(identity.username)) {
      throw new TypeError("The function identify returned an identity without a valid username.");
    }
    if (identity?.version !== undefined && typeof identity.version !== "string") {
      throw new TypeError("The function identify returned an identity whose version is no text.");
    }
    return identity;
  }

  function toIdentification(
    { username, settings: given = {}, version }: Identity,
    request: Request,
    connection: Connection,
  ): Identification {
    const settings = check(given);
    const identified = { outcome: "identified", login: { username, settings }, scheme: "identity" } as const;
    const remember = reported.find(identified.login, connection, version);
    if (remember === undefined) return identified;
    return { ...identified, attempt: toAttempt(username, request, connection), remember };
  }

  function toAttempt(username: string, request: Request, connection: Connection): LoginAttempt {
    const { peer } = connection;
    const trace = readTrace(request.headers);
    const creator = { uuid: component.uuid, type: isSecure(request, connection) ? "https" : "http" };
    const credentials = {
      type: "identity",
      username,
      creator,
      ...(peer && { peer }),
      ...(trace && { trace }),
    } as const;
    return { credentials, verdicts: [] };
  }

  return { ...own, identify, identifySession };
}
