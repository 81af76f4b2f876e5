import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import type { Login } from "./login.ts";

/**
 * Logins without a session that need no password: each is reported once for a connection, and again after an hour, not
 * for each request.
 */
export interface ReportedLogins {
  /**
   * Returns `undefined` if the login was reported within the last hour. Otherwise returns a function that marks it as
   * reported. The function returns true only the first time: requests of a connection may run at the same time.
   *
   * `mark` says what the login was made with, such as a key. With another mark it is another login.
   */
  find(login: Login, connection: Connection, mark: string | undefined): (() => boolean) | undefined;
}

/** How many logins are remembered, of all accounts together. The oldest ones are dropped. */
const MAX_REPORTED = 10_000;

/**
 * How long a login counts as reported, in milliseconds. A proxy and Workers hide the client's port, so all connections
 * of an address look like one, which never ends.
 */
const REPORTED_FOR = 3_600_000;

/**
 * Creates the reported logins of a service. `resolve` returns the same account for equal settings, and `clock`
 * milliseconds since the epoch.
 */
export function createReportedLogins(
  resolve: (username: string, settings: AccountSettings) => object,
  clock: () => number,
): ReportedLogins {
  /** When the login of an account and connection was reported, and its home folder prepared. */
  const reported = createBoundedMap<string, number>(MAX_REPORTED);
  /** A number for each account, so that no connection keeps an account in memory. */
  const numbers = new WeakMap<object, number>();
  let lastNumber = 0;

  function numberOf(account: object): number {
    const number = numbers.get(account) ?? ++lastNumber;
    numbers.set(account, number);
    return number;
  }

  function isReported(login: string): boolean {
    const since = reported.get(login);
    return since !== undefined && Math.abs(clock() - since) < REPORTED_FOR;
  }

  /** Marks a login as reported. Returns whether it was not yet. */
  function markReported(login: string): boolean {
    if (isReported(login)) return false;
    reported.set(login, clock());
    return true;
  }

  return {
    find({ username, settings }, connection, mark) {
      const account = numberOf(resolve(username, settings));
      const { address = "", port = 0 } = connection.peer ?? {};
      const login = JSON.stringify([account, address, port, mark]);
      return isReported(login) ? undefined : () => markReported(login);
    },
  };
}
