import { orRetryError } from "../../http/errors.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { memoize } from "../../platform/memoize.ts";
import { randomHex } from "../../platform/random-hex.ts";
import { createSessionLifetime } from "./lifetime.ts";
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

/** Stored sessions of up to this length, in characters, have their parse result memoized. */
const MAX_MEMOIZED = 4096;

/** Creates the sessions on a store. Throws `TypeError` for a duration that is not positive. */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, maxPerAccount, clock = Date.now, isCurrent = async () => true } = options;
  const lifetime = createSessionLifetime(options, clock);
  const { remaining, isAlive, isRenewalDue } = lifetime;
  const withLock = createKeyedMutex();
  const sessionKeyOf = memoize(toSessionKey);
  const generationKeyOf = memoize(toGenerationKey);
  const limit = createSessionLimit({ store, maxPerAccount, lifetime: lifetime.longest, findLive, end: erase });

  /** Memoized by the stored text, because most requests find the same text as the request before. */
  const parse = memoize(parseSession, { maxCharacters: MAX_MEMOIZED });

  async function read(key: string): Promise<StoredSession | undefined> {
    const stored = await store.get(key);
    return typeof stored === "string" ? parse(stored) : undefined;
  }

  async function write(key: string, session: StoredSession): Promise<void> {
    await store.set(key, JSON.stringify(session), remaining(session) + lifetime.grace);
  }

  async function readGeneration(username: string) {
    return parseGeneration(await store.get(generationKeyOf(username)));
  }

  /**
   * Returns whether a change of the password or of the account ended a session. `current` is the account's generation.
   */
  async function isSuperseded(key: string, session: StoredSession, current?: StoredGeneration): Promise<boolean> {
    if (current !== undefined && current.generation !== session.generation && current.kept !== key) return true;
    return !(await hasCurrent(session)) && removeUnlessCurrent(key);
  }

  async function hasCurrent({ username, versions }: StoredSession): Promise<boolean> {
    return versions === undefined || (await findCurrent(username, versions)).length > 0;
  }

  /**
   * Removes a session without a current version, and returns false if it has one after all: a password change may have
   * added it since the session was read. Removal is permanent, so the session stays ended even if the account changes
   * back.
   */
  async function removeUnlessCurrent(key: string): Promise<boolean> {
    const session = await read(key);
    if (session !== undefined && (await hasCurrent(session))) return false;
    // Refused but not removed: another process on this store may have the method that knows the version.
    if (session !== undefined && !(await isOutdated(session))) return true;
    await store.set(toEndKey(key), true, lifetime.endMarker);
    await store.delete(key);
    return true;
  }

  /**
   * Returns whether the methods say that no version is current. `undefined` from `isCurrent` means that the method is
   * missing here.
   */
  async function isOutdated({ username, versions = [] }: StoredSession): Promise<boolean> {
    const results = await Promise.all(versions.map((version) => isCurrent(username, version)));
    return results.every((result) => result === false);
  }

  async function findCurrent(username: string, versions: readonly string[]): Promise<readonly string[]> {
    // The newest first: the others are usually outdated.
    for (const version of versions.toReversed()) if (await isCurrent(username, version)) return [version];
    return [];
  }

  /**
   * Writes the time of a session's last use. Another process may end the session between this read and this write, and
   * the write would then restore it. To prevent that, ending a session sets a marker and then deletes the session, and
   * `rewrite` looks for the marker after it has written: one of the two always sees the other.
   */
  async function renew(key: string): Promise<void> {
    const session = await read(key);
    if (session === undefined || !isAlive(session) || !isRenewalDue(session)) return;
    await rewrite(key, { ...session, seen: clock() });
  }

  async function rewrite(key: string, session: StoredSession): Promise<void> {
    await write(key, session);
    if ((await store.get(toEndKey(key))) !== undefined) await store.delete(key);
  }

  /**
   * Returns whether a session may outlive a change of its account: one that has ended must not become valid again. Adds
   * the account's next version before the account gets it, so that the session has a current version at every moment.
   */
  async function keep(key: string, version: string | undefined): Promise<boolean> {
    const session = await read(key);
    if (session === undefined || !isAlive(session)) return false;
    const { username, versions } = session;
    if (await isSuperseded(key, session, await readGeneration(username))) return false;
    if (version === undefined || versions === undefined || versions.includes(version)) return true;
    await rewrite(key, { ...session, versions: [...(await findCurrent(username, versions)), version] });
    return true;
  }

  async function generationOf(username: string): Promise<string | undefined> {
    return mapStoreErrors(async () => (await readGeneration(username))?.generation);
  }

  async function start(record: SessionRecord, generation?: string, onEnded?: OnSession): Promise<string> {
    const { username, settings, version } = record;
    const id = randomHex(16);
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
      await limit.register(username, key, onEnded);
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

  async function findAlive(id: string, onExpired?: OnSession): Promise<TimedSession | undefined> {
    const key = sessionKeyOf(id);
    const session = await read(key);
    if (session === undefined) return undefined;
    if (await isSuperseded(key, session, await readGeneration(session.username))) return undefined;
    if (!isAlive(session)) {
      if (onExpired !== undefined) await withLock(key, () => removeExpired(key, onExpired));
      return undefined;
    }
    // Under the same lock as `end`: a renewal concurrent with a logout would restore the session.
    if (isRenewalDue(session)) await withLock(key, () => renew(key));
    return toRecord(session);
  }

  /** Removes an expired session and reports it, so that it is reported once. */
  async function removeExpired(key: string, onExpired: OnSession): Promise<void> {
    const session = await read(key);
    if (session === undefined || isAlive(session)) return;
    await store.delete(key);
    onExpired(toRecord(session));
  }

  async function remove(key: string): Promise<TimedSession | undefined> {
    const session = await read(key);
    if (session === undefined) return undefined;
    await store.delete(key);
    return toRecord(session);
  }

  /**
   * Removes a session from the store permanently. The end marker lasts for one idle time: a renewal that another
   * process started before that has expired by then.
   */
  async function erase(key: string): Promise<TimedSession | undefined> {
    await store.set(toEndKey(key), true, lifetime.endMarker);
    return withLock(key, () => remove(key));
  }

  async function find(id: string, onExpired?: OnSession): Promise<TimedSession | undefined> {
    return isSessionId(id) ? mapStoreErrors(() => findAlive(id, onExpired)) : undefined;
  }

  async function isEnded(id: string): Promise<boolean | undefined> {
    const key = sessionKeyOf(id);
    return mapStoreErrors(async () => {
      if ((await store.get(toEndKey(key))) !== undefined) return true;
      const session = await read(key);
      if (session === undefined) return undefined;
      if (await isSuperseded(key, session, await readGeneration(session.username))) return true;
      if (isAlive(session) && isRenewalDue(session)) await withLock(key, () => renew(key));
      return false;
    });
  }

  async function end(id: string, onExpired?: OnSession): Promise<TimedSession | undefined> {
    if (!isSessionId(id)) return undefined;
    const key = sessionKeyOf(id);
    return mapStoreErrors(async () => {
      if ((await findAlive(id, onExpired)) === undefined) return undefined;
      return erase(key);
    });
  }

  async function endOthers(username: string, keptId: string, version?: string): Promise<void> {
    const key = sessionKeyOf(keptId);
    let isKept = true;
    try {
      isKept = await mapStoreErrors(() => withLock(key, () => keep(key, version)));
    } finally {
      // Also if the store fails there: the others end in any case.
      await startGeneration(username, isKept ? key : undefined);
    }
  }

  async function startGeneration(username: string, kept?: string): Promise<void> {
    const generation = { generation: crypto.randomUUID(), ...(kept !== undefined && { kept }) };
    await mapStoreErrors(() => store.set(generationKeyOf(username), generation, lifetime.generation));
  }

  return {
    generationOf,
    start,
    find,
    isEnded,
    end,
    endOthers,
    endAll: (username) => startGeneration(username),
  };
}

function toRecord({ username, settings, created }: StoredSession): TimedSession {
  return { username, settings, created };
}

function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Runs work on the store of sessions. */
function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  return orRetryError("session-store-unavailable", work);
}
