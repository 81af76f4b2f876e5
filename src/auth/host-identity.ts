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

/** How many connections are remembered, of all accounts together, so that a login is reported once for each of them. */
const MAX_REPORTED = 10_000;

/**
 * Asks the host who sends a request before the service asks its own methods. An identity is not throttled, starts no
 * session and has none, so it cannot change a password.
 */
export function withHostIdentity(
  own: Identifier,
  { identify: ask, resolve, check, component }: HostIdentityOptions,
): Identifier {
  /** The accounts and connections whose logins were reported, and whose home folder was prepared. */
  const reported = new Set<string>();
  /** A number for each account, so that no connection keeps an account in memory. */
  const numbers = new WeakMap<object, number>();
  let lastNumber = 0;

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
    const account = numberOf(resolve(username, settings));
    const { address = "", port = 0 } = connection.peer ?? {};
    const key = JSON.stringify([account, address, port, version]);
    const identified = { outcome: "identified", login: { username, settings }, scheme: "identity" } as const;
    if (reported.has(key)) return identified;
    const attempt = toAttempt(username, request, connection);
    return { ...identified, attempt, remember: () => remember(reported, key) };
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

  function numberOf(account: object): number {
    const number = numbers.get(account) ?? ++lastNumber;
    numbers.set(account, number);
    return number;
  }

  return { ...own, identify, identifySession };
}

/** Returns whether the connection is a new one for the account. The oldest ones are forgotten. */
function remember(reported: Set<string>, key: string): boolean {
  if (reported.has(key)) return false;
  reported.add(key);
  const [oldest] = reported;
  if (reported.size > MAX_REPORTED && oldest !== undefined) reported.delete(oldest);
  return true;
}
