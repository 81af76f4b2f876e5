import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import type { Login } from "./login.ts";

/** Logins without a session that need no password: each is reported once for a connection, not for each request. */
export interface ReportedLogins {
  /**
   * Returns `undefined` if the login was reported with an earlier request. Otherwise returns a function that marks it
   * as reported. The function returns true only the first time: requests of a connection may run at the same time.
   *
   * `mark` says what the login was made with, such as a key. With another mark it is another login.
   */
  find(login: Login, connection: Connection, mark: string | undefined): (() => boolean) | undefined;
}

/** How many logins are remembered, of all accounts together. The oldest ones are dropped. */
const MAX_REPORTED = 10_000;

/** Creates the reported logins of a service. `resolve` returns the same account for equal settings. */
export function createReportedLogins(resolve: (username: string, settings: AccountSettings) => object): ReportedLogins {
  /** The accounts and connections whose logins were reported, and whose home folder was prepared. */
  const reported = createBoundedMap<string, true>(MAX_REPORTED);
  /** A number for each account, so that no connection keeps an account in memory. */
  const numbers = new WeakMap<object, number>();
  let lastNumber = 0;

  function numberOf(account: object): number {
    const number = numbers.get(account) ?? ++lastNumber;
    numbers.set(account, number);
    return number;
  }

  /** Marks a login as reported. Returns whether this is the first call for it. */
  function markReported(login: string): boolean {
    const isFirst = reported.get(login) === undefined;
    if (isFirst) reported.set(login, true);
    return isFirst;
  }

  return {
    find({ username, settings }, connection, mark) {
      const account = numberOf(resolve(username, settings));
      const { address = "", port = 0 } = connection.peer ?? {};
      const login = JSON.stringify([account, address, port, mark]);
      return reported.get(login) ? undefined : () => markReported(login);
    },
  };
}
