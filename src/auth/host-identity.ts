import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { Identify, Identity } from "../contracts/identity.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import { isPlausibleName } from "./chain.ts";
import type { Identification, Identifier } from "./identify.ts";
import type { LoginAttempt } from "./login-audit.ts";

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
}

/** How many connections of an account are remembered, so that its login is reported once for each of them. */
const MAX_REPORTED = 1000;

/**
 * Asks the host who sends a request before the service asks its own methods. An identity is not throttled, starts no
 * session and has none, so it cannot change a password.
 */
export function withHostIdentity(
  own: Identifier,
  { identify: ask, resolve, check, component }: HostIdentityOptions,
): Identifier {
  /** The connections whose logins were reported, and whose home folder was prepared. */
  const reported = new WeakMap<object, Set<string>>();

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
    return identity;
  }

  function toIdentification(
    { username, settings: given = {}, version }: Identity,
    request: Request,
    connection: Connection,
  ): Identification {
    const settings = check(given);
    const connections = connectionsOf(resolve(username, settings));
    const { address = "", port = 0 } = connection.peer ?? {};
    const key = JSON.stringify([address, port, version]);
    const identified = { outcome: "identified", login: { username, settings }, scheme: "identity" } as const;
    if (connections.has(key)) return identified;
    const attempt = toAttempt(username, request, connection);
    return { ...identified, attempt, remember: () => remember(connections, key) };
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

  function connectionsOf(account: object): Set<string> {
    const connections = reported.get(account) ?? new Set();
    reported.set(account, connections);
    return connections;
  }

  return { ...own, identify, identifySession };
}

/** Returns whether the connection is a new one. */
function remember(connections: Set<string>, key: string): boolean {
  if (connections.has(key)) return false;
  connections.add(key);
  const [oldest] = connections;
  if (connections.size > MAX_REPORTED && oldest !== undefined) connections.delete(oldest);
  return true;
}
