import { z } from "zod";
import type { AccountSettings } from "../contracts/account.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { HttpError } from "../http/http-error.ts";
import { accountSettingsSchema } from "../wire/account.ts";

/** Who is behind a session. */
export interface SessionRecord {
  readonly username: string;
  /** As the authenticator gave them at login. */
  readonly settings: AccountSettings;
}

/**
 * The sessions of a service (5.1). Every method rejects with {@link HttpError} `unavailable` when the store fails.
 */
export interface Sessions {
  /** Begins a session under a new random ID: 32 hexadecimal digits. IDs of clients are never taken over. */
  start(record: SessionRecord): Promise<string>;
  /**
   * The record of a session that is neither ended nor over, and keeps it alive. Anything that is no ID of a live session
   * is `undefined`, odd texts without asking the store.
   */
  find(id: string): Promise<SessionRecord | undefined>;
  /** Ends a session; an ID that is none is no failure. */
  end(id: string): Promise<void>;
}

/** Where sessions live and for how long. */
export interface SessionsOptions {
  /** Keeps the sessions; of an ID it sees the SHA-256 only. */
  readonly store: KeyValueStore;
  /** Seconds without use after which a session is over; up to a twentieth earlier, as uses are not written each. Default: 1800. */
  readonly idleSeconds?: number;
  /** Seconds after which a session is over in any case. Default: 43200. */
  readonly maxSeconds?: number;
  /** Milliseconds since the epoch, shared by all processes on one store. Default: `Date.now`. */
  readonly clock?: () => number;
}

type StoredSession = z.infer<typeof storedSessionSchema>;

const storedSessionSchema = z.strictObject({
  username: z.string().min(1),
  settings: accountSettingsSchema,
  created: z.number(),
  seen: z.number(),
});

/** Makes the sessions on a store. Throws `TypeError` for a duration that is not positive. */
export function createSessions(options: SessionsOptions): Sessions {
  const { store, idleSeconds = 1800, maxSeconds = 43_200, clock = Date.now } = options;
  const idle = toMilliseconds(idleSeconds, "idleSeconds");
  const max = toMilliseconds(maxSeconds, "maxSeconds");
  const inTurn = createTurns();

  /** Milliseconds that a session has left; none when it is over. */
  function remaining({ created, seen }: StoredSession): number {
    return Math.min(seen + idle, created + max) - clock();
  }

  async function read(key: string): Promise<StoredSession | undefined> {
    const parsed = storedSessionSchema.safeParse(await store.get(key));
    return parsed.success && remaining(parsed.data) > 0 ? parsed.data : undefined;
  }

  function isDue({ seen }: StoredSession): boolean {
    return clock() - seen >= idle / 20;
  }

  async function renew(key: string): Promise<void> {
    const session = await read(key);
    if (session === undefined || !isDue(session)) return;
    const renewed = { ...session, seen: clock() };
    await store.set(key, renewed, remaining(renewed));
  }

  async function start({ username, settings }: SessionRecord): Promise<string> {
    const id = toHex(crypto.getRandomValues(new Uint8Array(16)));
    const now = clock();
    const session: StoredSession = { username, settings, created: now, seen: now };
    const key = await toKey(id);
    await orUnavailable(() => store.set(key, session, Math.min(idle, max)));
    return id;
  }

  async function find(id: string): Promise<SessionRecord | undefined> {
    if (!isSessionId(id)) return undefined;
    const key = await toKey(id);
    const session = await orUnavailable(() => read(key));
    if (session === undefined) return undefined;
    // In turn with `end`: a renewal that overtakes a logout would bring the session back.
    if (isDue(session)) await orUnavailable(() => inTurn(key, () => renew(key)));
    return { username: session.username, settings: session.settings };
  }

  async function end(id: string): Promise<void> {
    if (!isSessionId(id)) return;
    const key = await toKey(id);
    await orUnavailable(() => inTurn(key, () => store.delete(key)));
  }

  return { start, find, end };
}

function isSessionId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Whoever reads the store learns no ID to log in with. */
async function toKey(id: string): Promise<string> {
  return `session:${toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id))))}`;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toMilliseconds(seconds: number, option: string): number {
  if (!Number.isFinite(seconds) || seconds <= 0) throw new TypeError(`${option} must be a positive number of seconds`);
  return seconds * 1000;
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HttpError("unavailable", "The session store is not available.", { "Retry-After": "1" }, { cause });
  }
}

/** Lets the pieces of work on one key run one after the other, in this process. */
function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, Promise<unknown>>();

  return function inTurn(key, work) {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
    const forget = () => {
      if (turns.get(key) === turn) turns.delete(key);
    };
    turns.set(key, turn);
    turn.then(forget, forget);
    return turn;
  };
}
