import { foldName } from "../contracts/account-name.ts";
import { toNetwork } from "../http/ip-network.ts";
import { memoize } from "../platform/memoize.ts";
import { toStoreKey } from "./store.ts";

/** Where an attempt comes from. Attempts are counted by user name and by network. */
export interface AttemptOrigin {
  /**
   * Absent for credentials that no account can have: such an attempt tests no password, and the store must not fill up
   * with arbitrary names.
   */
  readonly username?: string | undefined;
  /** The peer's address, if known. Its network counts: for IPv6, the first 64 bits. */
  readonly address?: string | undefined;
}

/** A key that attempts are counted under: that of a network, of a user name from a network, or of a user name. */
export interface AttemptKey {
  readonly kind: "network" | "pair" | "name";
  readonly key: string;
}

/** Creates a function that returns the keys of an attempt: that of the network first, that of the user name last. */
export function createAttemptKeys(): (origin: AttemptOrigin) => readonly AttemptKey[] {
  const networkKeyOf = memoize((network) => toStoreKey("failed-logins-from", network));
  const pairKeyOf = memoize((pair) => toStoreKey("failed-logins-of", pair));
  const nameKeyOf = memoize((name) => toStoreKey("failed-logins-of-name", name));

  return ({ username, address }) => {
    const keys: AttemptKey[] = [];
    const network = address === undefined ? undefined : toNetwork(address);
    const name = username === undefined ? undefined : foldName(username);
    if (network !== undefined) keys.push({ kind: "network", key: networkKeyOf(network) });
    if (name !== undefined) keys.push({ kind: "pair", key: pairKeyOf(`${network ?? ""}\n${name}`) });
    if (network !== undefined && name !== undefined) keys.push({ kind: "name", key: nameKeyOf(name) });
    return keys;
  };
}

/** Which counts of failed logins there were. */
export interface ForgottenLogins {
  /** Those of the user name. */
  readonly ofName: boolean;
  /** Those of the network of the address. */
  readonly ofNetwork: boolean;
}

/**
 * Forgets the failed logins of a user name from all networks together; with an address also those of its network, and
 * of the name from there. Rejects with the error of the store.
 */
export async function forgetFailedLogins(
  store: { get(key: string): Promise<unknown>; delete(key: string): Promise<unknown> },
  username: string,
  address?: string,
): Promise<ForgottenLogins> {
  const keysOf = createAttemptKeys();
  // The key of the name alone does not depend on the network, but there is none without a network.
  const all = address === undefined ? keysOf({ username, address: "127.0.0.1" }) : keysOf({ username, address });
  const found = new Set<AttemptKey["kind"]>();
  for (const { kind, key } of all) {
    if (address === undefined && kind !== "name") continue;
    if ((await store.get(key)) !== undefined) found.add(kind);
    await store.delete(key);
  }
  return { ofName: found.has("name") || found.has("pair"), ofNetwork: found.has("network") };
}
