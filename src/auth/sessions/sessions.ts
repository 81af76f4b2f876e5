import { checkOption } from "../../contracts/option-error.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { memoize } from "../../platform/memoize.ts";
import { toHex } from "../../platform/sha256.ts";
import { mapStoreErrors } from "../store.ts";
import { createSessionLimit, type LiveSession } from "./limit.ts";
import {
  parseGeneration,
  parseSession,
  type StoredGeneration,
  type StoredSession,
  toEndKey,
  toGenerationKey,
  toSessionKey,
} from "./records.ts";
import type { OnSession, SessionRecord, Sessions, SessionsOptions, TimedSession } from "./types.ts";

/** Characters of a stored session whose check is remembered. */
const MAX_MEMOIZED = 4096;

/** Makes the sessions on a store. Throws `TypeError` for a duration that is not positive. */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, idleSeconds = 1800, maxSeconds = 43_200, maxPerAccount = 100, clock = Date.now } = options;
  const { isCurrent = async () => true } = options;
  const idle = toMilliseconds(idleSeconds, "idleSeconds");
  const max = toMilliseconds(maxSeconds, "maxSeconds");
  const withLock = createKeyedMutex();
  const sessionKeyOf = memoize(toSessionKey);
  const generationKeyOf = memoize(toGenerationKey);
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
  const parse = memoize(parseSession, MAX_MEMOIZED);

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

  /** Whether a change of password, or of the account where it is kept, ended a session. The generation is that of its account. */
  async function isSuperseded(key: string, session: StoredSession, current?: StoredGeneration): Promise<boolean> {
    if (current !== undefined && current.generation !== session.generation && current.kept !== key) return true;
    return !(await hasCurrent(session)) && removeUnlessCurrent(key);
  }

  async function hasCurrent({ username, versions }: StoredSession): Promise<boolean> {
    return versions === undefined || (await findCurrent(username, versions)).length > 0;
  }

  /** For good: the account may be put back as it was. A change of password may have given the session another version since it was read. */
  async function removeUnlessCurrent(key: string): Promise<boolean> {
    const session = await read(key);
    if (session !== undefined && (await hasCurrent(session))) return false;
    // It is not for us to end: another process on this store may have the method that knows.
    if (session !== undefined && !(await isOutdated(session))) return true;
    await store.set(toEndKey(key), true, idle);
    await store.delete(key);
    return true;
  }

  /** Whether a method says so, and not merely lacks here. */
  async function isOutdated({ username, versions = [] }: StoredSession): Promise<boolean> {
    const answers = await Promise.all(versions.map((version) => isCurrent(username, version)));
    return answers.every((answer) => answer === false);
  }

  async function findCurrent(username: string, versions: readonly string[]): Promise<readonly string[]> {
    // The last one first: the others are former ones.
    for (const version of versions.toReversed()) if (await isCurrent(username, version)) return [version];
    return [];
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
    await rewrite(key, { ...session, seen: clock() });
  }

  async function rewrite(key: string, session: StoredSession): Promise<void> {
    await write(key, session);
    if ((await store.get(toEndKey(key))) !== undefined) await store.delete(key);
  }

  /** Before the account has the version: at no moment is the session without a current one. */
  async function addVersion(key: string, version: string): Promise<void> {
    const session = await read(key);
    if (session?.versions === undefined || !isAlive(session) || session.versions.includes(version)) return;
    const standing = await findCurrent(session.username, session.versions);
    await rewrite(key, { ...session, versions: [...standing, version] });
  }

  async function generationOf(username: string): Promise<string | undefined> {
    return (await mapStoreErrors(() => readGeneration(username)))?.generation;
  }

  async function start(record: SessionRecord, generation?: string, onEnded?: OnSession): Promise<string> {
    const { username, settings, version } = record;
    const id = toHex(crypto.getRandomValues(new Uint8Array(16)));
    const now = clock();
    const session: StoredSession = {
      username,
      settings,
      created: now,
      seen: now,
      ...(generation !== undefined && { generation }),
      ...(version !== undefined && { versions: [version] }),
    };
    const key = sessionKeyOf(id);
    await mapStoreErrors(async () => {
      await write(key, session);
      await limit.note(username, key, onEnded);
    });
    return id;
  }

  async function findLive(username: string, keys: readonly string[]): Promise<readonly LiveSession[]> {
    const generation = await readGeneration(username);
    const found = await Promise.all(
      keys.map(async (key) => {
        const session = await read(key);
        const isLive = session !== undefined && isAlive(session) && !(await isSuperseded(key, session, generation));
        return isLive ? [{ key, seen: session.seen }] : [];
      }),
    );
    return found.flat();
  }

  async function findAlive(id: string, onOver?: OnSession): Promise<TimedSession | undefined> {
    const key = sessionKeyOf(id);
    const session = await read(key);
    if (session === undefined) return undefined;
    if (await isSuperseded(key, session, await readGeneration(session.username))) return undefined;
    if (!isAlive(session)) {
      if (onOver !== undefined) await withLock(key, () => forget(key, onOver));
      return undefined;
    }
    // In turn with `end`: a renewal that overtakes a logout would bring the session back.
    if (isDue(session.seen)) await withLock(key, () => renew(key));
    return toRecord(session);
  }

  /** Whoever removes it tells; who cannot tell leaves it for those who can. */
  async function forget(key: string, onOver: OnSession): Promise<void> {
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
    return withLock(key, () => remove(key));
  }

  async function find(id: string, onOver?: OnSession): Promise<TimedSession | undefined> {
    return isSessionId(id) ? mapStoreErrors(() => findAlive(id, onOver)) : undefined;
  }

  function toProgress(id: string): () => void {
    let seen = clock();
    return () => {
      if (!isDue(seen)) return;
      seen = clock();
      find(id).catch(() => undefined);
    };
  }

  async function end(id: string, onOver?: OnSession): Promise<TimedSession | undefined> {
    if (!isSessionId(id)) return undefined;
    const key = sessionKeyOf(id);
    return mapStoreErrors(async () => {
      if ((await findAlive(id, onOver)) === undefined) return undefined;
      return erase(key);
    });
  }

  async function endOthers(username: string, keptId: string, version?: string): Promise<void> {
    const kept = sessionKeyOf(keptId);
    if (version !== undefined) await mapStoreErrors(() => withLock(kept, () => addVersion(kept, version)));
    await beginGeneration(username, kept);
  }

  async function beginGeneration(username: string, kept?: string): Promise<void> {
    const generation = { generation: crypto.randomUUID(), ...(kept !== undefined && { kept }) };
    // For longer than a session of a login that is under way could live.
    await mapStoreErrors(() => store.set(generationKeyOf(username), generation, max + idle));
  }

  return { generationOf, start, find, toProgress, end, endOthers, endAll: (username) => beginGeneration(username) };
}

function toRecord({ username, settings, created }: StoredSession): TimedSession {
  return { username, settings, created };
}

function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

function toMilliseconds(seconds: number, option: string): number {
  checkOption(Number.isFinite(seconds) && seconds > 0, option, "a positive number of seconds");
  return seconds * 1000;
}
