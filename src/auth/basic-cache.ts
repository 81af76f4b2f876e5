import { createBoundedMap } from "../platform/bounded-map.ts";
import { isLoopShared } from "../platform/event-loop.ts";
import { createHmac } from "../platform/hmac.ts";
import { poll } from "../platform/wait.ts";
import type { AuthenticationChain, ChainVerdict } from "./chain.ts";
import type { Login } from "./login.ts";
import type { Sessions } from "./sessions/types.ts";
import type { LoginThrottle, Shortcut } from "./throttle.ts";

/** The result of a login by HTTP Basic. */
export type BasicVerdict =
  /** A login with these credentials is remembered, and still valid. */
  | { readonly outcome: "remembered"; readonly login: Login }
  | Verified
  /** The password was not verified: `error` says why. */
  | { readonly outcome: "failed"; readonly error: unknown; readonly mustCount: boolean };

/** A verdict about the password, of this request or of another one at about the same time. */
interface Verified {
  readonly outcome: "verified";
  readonly verdict: ChainVerdict;
  /** See {@link BasicCache.verify}. */
  readonly mustCount: boolean;
  /** Set if another request verified the password. */
  readonly isShared?: true;
  /**
   * Remembers the login for later requests. Call it when the account is admitted. Returns whether this is the first
   * call, as requests may share the verdict.
   */
  readonly remember: (login: Login) => boolean;
}

/**
 * Remembers accepted logins by HTTP Basic for a short time, because verifying a hashed password takes 0.3 s, too long
 * for every request (CONTRACT 6.4). It never remembers a refusal. It keeps no password: the key of an entry is an HMAC
 * of the credentials, with a key that only this process has.
 *
 * A login is remembered for its *origin*: the user name, the address, and whether the client uses TLS. A method may
 * judge all three. A verdict is *shared* if another request with the same credentials has verified the password.
 */
export interface BasicCache {
  /**
   * Finds the remembered login of these credentials, for {@link LoginThrottle.run}. It is not valid after a password
   * change, `endSessions`, or a change or the removal of its account. Returns `undefined` if no login is ever
   * remembered.
   *
   * The result would show an attacker whether a password is right, so only the throttle may depend on it.
   */
  recall(presented: PresentedBasic): Shortcut<BasicVerdict> | undefined;
  /**
   * Returns the remembered login of these credentials, or asks `authenticate` for a verdict.
   *
   * The result shows an attacker whether a password is right, so the caller must throttle this call as a login.
   *
   * Sometimes no password can be verified: too many logins wait, or a remote endpoint is down. Then only a remembered
   * or shared password passes. That would show which password is right, so an attempt without a verdict counts as
   * failed (`mustCount`) if a login of the same origin is remembered or being verified.
   */
  verify(presented: PresentedBasic, authenticate: () => Promise<ChainVerdict>): Promise<BasicVerdict>;
}

/** What a login is recognized by: the credentials, and what else a method may judge. */
export interface PresentedBasic {
  readonly username: string;
  readonly password: string;
  /** The address of the client, if known. */
  readonly address: string | undefined;
  /** Whether the client uses TLS. */
  readonly isSecure: boolean;
}

/** Options of {@link createBasicCache}. */
export interface BasicCacheOptions {
  /**
   * How long a login is remembered, in seconds. Absent: 60 for an account with a version that the first method of the
   * chain has accepted. Otherwise 0: the service would not notice if an earlier method gets the same user later.
   */
  readonly seconds: number | undefined;
  readonly chain: Pick<AuthenticationChain, "isCurrent">;
  readonly sessions: Pick<Sessions, "generationOf">;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A password that was accepted. */
interface Entry {
  readonly username: string;
  readonly version: string | undefined;
  /** See `toOrigin`. */
  readonly origin: string;
  /** The generation of the account's sessions before the password was verified. */
  readonly generation: string | undefined;
  /** When the verification began, in milliseconds since the epoch. */
  readonly since: number;
  /** In milliseconds. */
  readonly lifetime: number;
  readonly verified: Verified;
  /** Absent until the account is admitted. */
  login?: Login;
}

/** A verification in progress. */
interface Verification {
  /** See `toOrigin`. */
  readonly origin: string;
  readonly result: Promise<BasicVerdict>;
}

const DEFAULT_SECONDS = 60;
const MAX_ENTRIES = 1000;

/** Creates the cache of a service. */
export function createBasicCache({ seconds, chain, sessions, clock }: BasicCacheOptions): BasicCache {
  const entries = createBoundedMap<string, Entry>(MAX_ENTRIES);
  /** The verifications in progress. */
  const verifications = new Map<string, Verification>();
  const toMac = createHmac();

  /** The client and the name that a login is remembered for. */
  function toOrigin({ username, address, isSecure }: PresentedBasic): string {
    // No two origins are one text: a name with a control character is refused, and an address has none.
    return `${isSecure}\n${address}\n${username}`;
  }

  function toKey(origin: string, { password }: PresentedBasic): string {
    return toMac(`${origin}\n${password}`);
  }

  function recall(presented: PresentedBasic): Shortcut<BasicVerdict> | undefined {
    if (seconds === 0) return undefined;
    const entry = entries.get(toKey(toOrigin(presented), presented));
    if (entry?.login === undefined) return { isKnown: false, take: async () => undefined };
    const { login } = entry;
    const take = async (): Promise<BasicVerdict | undefined> =>
      (await isValid(entry)) === true ? { outcome: "remembered", login } : undefined;
    return { isKnown: true, take };
  }

  async function verify(presented: PresentedBasic, authenticate: () => Promise<ChainVerdict>): Promise<BasicVerdict> {
    if (seconds === 0) {
      return { outcome: "verified", verdict: await authenticate(), mustCount: false, remember: () => true };
    }
    const origin = toOrigin(presented);
    const key = toKey(origin, presented);
    const found = await find(key);
    if (found !== undefined) return found;
    const verification = { origin, result: verifyPassword(key, origin, presented.username, authenticate) };
    verifications.set(key, verification);
    try {
      return await verification.result;
    } finally {
      if (verifications.get(key) === verification) verifications.delete(key);
    }
  }

  /** Waits for a verification of the same credentials in progress: it may be accepted. */
  async function find(key: string): Promise<BasicVerdict | undefined> {
    const known = await findEntry(key);
    if (known !== undefined || !verifications.has(key)) return known;
    if (isLoopShared) await verifications.get(key)?.result;
    else await poll(() => !verifications.has(key));
    return findEntry(key);
  }

  async function findEntry(key: string): Promise<BasicVerdict | undefined> {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const validity = await isValid(entry);
    if (validity === true) {
      if (entry.login !== undefined) return { outcome: "remembered", login: entry.login };
      return { ...entry.verified, mustCount: false, isShared: true };
    }
    // Unless the same password was verified again meanwhile.
    if (validity === false && entries.get(key) === entry) entries.delete(key);
    return undefined;
  }

  async function verifyPassword(
    key: string,
    origin: string,
    username: string,
    authenticate: () => Promise<ChainVerdict>,
  ): Promise<BasicVerdict> {
    const since = clock();
    const mustCount = isOtherKnown(key, origin);
    const found = await findGeneration(username);
    try {
      const verdict = await authenticate();
      const lifetime = found && toLifetime(verdict);
      if (verdict.outcome !== "accepted" || !lifetime)
        return { outcome: "verified", verdict, mustCount, remember: () => true };
      const remember = (login: Login): boolean => {
        const isFirst = entry.login === undefined;
        entry.login ??= login;
        return isFirst;
      };
      const verified: Verified = { outcome: "verified", verdict, mustCount, remember };
      const { version } = verdict;
      const entry: Entry = { username, version, origin, generation: found.generation, since, lifetime, verified };
      keep(key, entry);
      return verified;
    } catch (error) {
      return { outcome: "failed", error, mustCount };
    }
  }

  /** Whether a login of this origin is remembered, or another password for it is being verified. */
  function isOtherKnown(key: string, origin: string): boolean {
    for (const entry of entries.values()) if (entry.origin === origin && isLive(entry)) return true;
    for (const [other, verification] of verifications) if (other !== key && verification.origin === origin) return true;
    return false;
  }

  function isLive({ since, lifetime }: Entry): boolean {
    const age = clock() - since;
    return age >= 0 && age < lifetime;
  }

  /** Returns `undefined` if a store or a method fails: then the password is verified, and the entry stays. */
  async function isValid(entry: Entry): Promise<boolean | undefined> {
    const { username, version, generation } = entry;
    if (!isLive(entry)) return false;
    try {
      if ((await sessions.generationOf(username)) !== generation) return false;
      return version === undefined || (await chain.isCurrent(username, version)) === true;
    } catch {
      return undefined;
    }
  }

  /** Returns `undefined` if sessions cannot be read. The login is then not remembered: its end could not be seen. */
  async function findGeneration(username: string): Promise<Pick<Entry, "generation"> | undefined> {
    try {
      return { generation: await sessions.generationOf(username) };
    } catch {
      return undefined;
    }
  }

  /** Returns 0 for a verdict that is not remembered. */
  function toLifetime(verdict: ChainVerdict): number {
    if (verdict.outcome !== "accepted") return 0;
    const isChecked = verdict.version !== undefined && verdict.verdicts.length === 1;
    return 1000 * (seconds ?? (isChecked ? DEFAULT_SECONDS : 0));
  }

  /** Keeps an entry, unless one that was verified later is kept already. */
  function keep(key: string, entry: Entry): void {
    const other = entries.get(key);
    if (other !== undefined && other.since > entry.since) return;
    entries.set(key, entry);
  }

  return { recall, verify };
}
