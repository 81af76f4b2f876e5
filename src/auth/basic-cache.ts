import { createHmac } from "../platform/hmac.ts";
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
 * Remembers accepted logins by HTTP Basic for a short time, because verifying a hashed password with every request
 * would cost 0.3 s each (CONTRACT 6.4). It never remembers a refusal, and keeps no password: the key of an entry is an
 * HMAC of the credentials, by a key of this process alone. A login is remembered for the address and the scheme that it
 * came by, as a method may judge both.
 */
export interface BasicCache {
  /**
   * Finds the remembered login of these credentials, for {@link LoginThrottle.run}. It is not valid after a password
   * change, `endSessions`, or a change or the removal of its account. Returns `undefined` if no login is ever
   * remembered.
   *
   * An attack: the result shows whether a password is right, so nothing but the throttle may depend on it.
   */
  recall(presented: PresentedBasic): Shortcut<BasicVerdict> | undefined;
  /**
   * Returns the remembered login of these credentials, or asks `authenticate` for a verdict.
   *
   * An attack: the result shows whether a password is right, so the caller must throttle this call as a login. While no
   * password can be verified, because too many logins wait or a remote endpoint is down, only a remembered
   * or shared password passes. If there may be one of the same origin, an attempt without a verdict counts as failed
   * (`mustCount`).
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
   * How long a login is remembered, in seconds. Absent: 60 for accounts with a version that the first method of the
   * chain accepted, otherwise 0, because it would not be noticed that an earlier method knows the name by now.
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
  const entries = new Map<string, Entry>();
  /** The verifications in progress. */
  const verifications = new Map<string, Verification>();
  const toMac = createHmac();

  /** The client and the name that a login is remembered for. */
  function toOrigin({ username, address, isSecure }: PresentedBasic): string {
    return JSON.stringify([address ?? null, isSecure, username]);
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
    await verifications.get(key)?.result;
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
      const lifetime = found === undefined ? 0 : toLifetime(verdict);
      if (verdict.outcome !== "accepted" || lifetime === 0)
        return { outcome: "verified", verdict, mustCount, remember: () => true };
      const remember = (login: Login): boolean => {
        const isFirst = entry.login === undefined;
        entry.login ??= login;
        return isFirst;
      };
      const verified: Verified = { outcome: "verified", verdict, mustCount, remember };
      const { version } = verdict;
      const entry: Entry = { username, version, origin, generation: found?.generation, since, lifetime, verified };
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

  /** Where sessions cannot be read, it cannot be seen later that they were ended: the login is not remembered. */
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
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  }

  return { recall, verify };
}
