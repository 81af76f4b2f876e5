import type { AccountSettings } from "../contracts/account.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { remembered } from "../http/remembered.ts";
import { createSessionLimit } from "./session-limit.ts";
import {
  parseGeneration,
  parseSession,
  type StoredSession,
  toEndKey,
  toGenerationKey,
  toSessionKey,
} from "./session-records.ts";
import { toHex } from "./sha256.ts";
import { orUnavailable } from "./store-access.ts";
import { createTurns } from "./turns.ts";

/** Who is behind a session. */
export interface SessionRecord {
  readonly username: string;
  /** As the authenticator gave them at login. */
  readonly settings: AccountSettings;
}

/** The same, with the time of its login in POSIX milliseconds. */
export interface TimedSession extends SessionRecord {
  readonly created: number;
}

/**
 * The sessions of a service (5.1). Every method rejects with `HttpError` `unavailable` when the store fails.
 *
 * A request costs two reads of the store, the session's and its account's, and at most once per twentieth of the idle time a write.
 */
export interface Sessions {
  /**
   * The generation of an account's sessions, which a change of password replaces. A login asks for it before it validates the
   * password: one that changes meanwhile begins no session that lives.
   */
  generationOf(username: string): Promise<string | undefined>;
  /**
   * Begins a session of a generation under a new random ID: 32 hexadecimal digits. IDs of clients are never taken over. Where the account has as many
   * as it may, its oldest one ends.
   */
  start(record: SessionRecord, generation?: string): Promise<string>;
  /**
   * The record of a session that is neither ended nor over, and keeps it alive. Anything that is no ID of a live session
   * is `undefined`, odd texts without asking the store. `onOver` is told of one whose time is over, at its first use.
   */
  find(id: string, onOver?: (record: TimedSession) => void): Promise<TimedSession | undefined>;
  /**
   * What a long transfer calls at every step, to keep a session alive: a comparison of times, and once per twentieth of the idle time a
   * `find`, which nobody waits for and whose failure is nobody's.
   */
  toProgress(id: string): () => void;
  /** Ends a session, in every process on the store. Its record, once; `undefined` where {@link find} would find none. */
  end(id: string, onOver?: (record: TimedSession) => void): Promise<TimedSession | undefined>;
  /** Ends all sessions of an account but one, and those of logins that are under way. */
  endOthers(username: string, keptId: string): Promise<void>;
}

/** Where sessions live and for how long. */
export interface SessionsOptions {
  /** Keeps the sessions; of IDs and account names it sees the SHA-256 as keys. */
  readonly store: KeyValueStore;
  /** Seconds without use after which a session is over; up to a twentieth earlier, as uses are not written each. Default: 1800. */
  readonly idleSeconds?: number;
  /** Seconds after which a session is over in any case. Default: 43200. */
  readonly maxSeconds?: number;
  /** Sessions that an account may have at a time; 0 for any number. Default: 100. */
  readonly maxPerAccount?: number;
  /** Milliseconds since the epoch, shared by all processes on one store. Default: `Date.now`. */
  readonly clock?: () => number;
}

type OnOver = ((record: TimedSession) => void) | undefined;
/** Characters of a stored session whose check is remembered. */
const MAX_REMEMBERED = 4096;

/** Makes the sessions on a store. Throws `TypeError` for a duration that is not positive. */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, idleSeconds = 1800, maxSeconds = 43_200, maxPerAccount = 100, clock = Date.now } = options;
  const idle = toMilliseconds(idleSeconds, "idleSeconds");
  const max = toMilliseconds(maxSeconds, "maxSeconds");
  const inTurn = createTurns();
  const sessionKeyOf = remembered(toSessionKey);
  const generationKeyOf = remembered(toGenerationKey);
  const limit = createSessionLimit({ store, maxPerAccount, lifetime: max + idle, findLive, end: erase });

  /** Milliseconds that a session has left; none when it is over. */
  function remaining({ created, seen }: StoredSession): number {
    return Math.min(seen + idle, created + max) - clock();
  }

  function isAlive(session: StoredSession): boolean {
    return remaining(session) > 0;
  }

  /**
   * Sessions are kept as text. Its check is remembered for as long as it is not written anew: most requests find what the last one has found.
   */
  const parse = remembered(parseSession, MAX_REMEMBERED);

  async function read(key: string): Promise<StoredSession | undefined> {
    const stored = await store.get(key);
    return typeof stored === "string" ? parse(stored) : undefined;
  }

  /** Kept for a while longer than it lives, so that who comes back too late can be told of. */
  async function write(key: string, session: StoredSession): Promise<void> {
    await store.set(key, JSON.stringify(session), remaining(session) + idle);
  }

  async function readGeneration(username: string) {
    return parseGeneration(await store.get(generationKeyOf(username)));
  }

  /** Whether a change of password ended a session. */
  async function isSuperseded(key: string, { username, generation }: StoredSession): Promise<boolean> {
    const current = await readGeneration(username);
    return current !== undefined && current.generation !== generation && current.kept !== key;
  }

  function isDue(seen: number): boolean {
    return clock() - seen >= idle / 20;
  }

  /**
   * Writes a session's use. Another process may end it between our reading and writing, which would bring it back: whoever ends it
   * leaves a mark first and deletes then, so one of the two sees the other.
   */
  async function renew(key: string): Promise<void> {
    const session = await read(key);
    if (session === undefined || !isAlive(session) || !isDue(session.seen)) return;
    await write(key, { ...session, seen: clock() });
    if ((await store.get(toEndKey(key))) !== undefined) await store.delete(key);
  }

  async function generationOf(username: string): Promise<string | undefined> {
    return (await orUnavailable(() => readGeneration(username)))?.generation;
  }

  async function start({ username, settings }: SessionRecord, generation?: string): Promise<string> {
    const id = toHex(crypto.getRandomValues(new Uint8Array(16)));
    const now = clock();
    const own = { username, settings, created: now, seen: now };
    const session: StoredSession = generation === undefined ? own : { ...own, generation };
    const key = sessionKeyOf(id);
    await orUnavailable(async () => {
      await write(key, session);
      await limit.note(username, key);
    });
    return id;
  }

  async function findLive(keys: readonly string[]): Promise<readonly string[]> {
    const areLive = await Promise.all(
      keys.map(async (key) => {
        const session = await read(key);
        return session !== undefined && isAlive(session) && !(await isSuperseded(key, session));
      }),
    );
    return keys.filter((_, index) => areLive[index]);
  }

  async function findAlive(id: string, onOver: OnOver): Promise<TimedSession | undefined> {
    const key = sessionKeyOf(id);
    const session = await read(key);
    if (session === undefined || (await isSuperseded(key, session))) return undefined;
    if (!isAlive(session)) {
      if (onOver !== undefined) await inTurn(key, () => forget(key, onOver));
      return undefined;
    }
    // In turn with `end`: a renewal that overtakes a logout would bring the session back.
    if (isDue(session.seen)) await inTurn(key, () => renew(key));
    return toRecord(session);
  }

  /** Whoever removes it tells; who cannot tell leaves it for those who can. */
  async function forget(key: string, onOver: (record: TimedSession) => void): Promise<void> {
    const session = await read(key);
    if (session === undefined || isAlive(session)) return;
    await store.delete(key);
    onOver(toRecord(session));
  }

  async function remove(key: string): Promise<TimedSession | undefined> {
    const session = await read(key);
    if (session === undefined) return undefined;
    await store.delete(key);
    return toRecord(session);
  }

  /** Removes a session from the store for good. A renewal in another process that began before is over by itself after the idle time. */
  async function erase(key: string): Promise<TimedSession | undefined> {
    await store.set(toEndKey(key), true, idle);
    return inTurn(key, () => remove(key));
  }

  async function find(id: string, onOver?: OnOver): Promise<TimedSession | undefined> {
    return isSessionId(id) ? orUnavailable(() => findAlive(id, onOver)) : undefined;
  }

  function toProgress(id: string): () => void {
    let seen = clock();
    return () => {
      if (!isDue(seen)) return;
      seen = clock();
      find(id).catch(() => undefined);
    };
  }

  async function end(id: string, onOver?: OnOver): Promise<TimedSession | undefined> {
    if (!isSessionId(id)) return undefined;
    const key = sessionKeyOf(id);
    return orUnavailable(async () => {
      if ((await findAlive(id, onOver)) === undefined) return undefined;
      return erase(key);
    });
  }

  async function endOthers(username: string, keptId: string): Promise<void> {
    const generation = { generation: crypto.randomUUID(), kept: sessionKeyOf(keptId) };
    // For longer than a session of a login that is under way could live.
    await orUnavailable(() => store.set(generationKeyOf(username), generation, max + idle));
  }

  return { generationOf, start, find, toProgress, end, endOthers };
}

function toRecord({ username, settings, created }: StoredSession): TimedSession {
  return { username, settings, created };
}

function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

function toMilliseconds(seconds: number, option: string): number {
  if (!Number.isFinite(seconds) || seconds <= 0) throw new TypeError(`${option} must be a positive number of seconds`);
  return seconds * 1000;
}
