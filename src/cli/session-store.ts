import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import { within } from "../stores/keyv.ts";
import { createSqliteStore, type SqliteDatabase } from "../stores/sqlite.ts";
import { createFailure, describeSystemError } from "./failure.ts";

/** A store that several processes share, as the configuration names it. */
export type SessionStoreLocation =
  | { readonly kind: "redis"; readonly url: string }
  /** The path of the database as it stands in the configuration. */
  | { readonly kind: "sqlite"; readonly file: string };

/** A store that is open. */
export interface OpenSessionStore {
  readonly store: KeyValueStore;
  close(): Promise<void>;
}

/** Begins every key of ours in a database that others may use too. */
const NAMESPACE = "fileferry";
const CONNECT_MILLISECONDS = 5000;
/** So many commands wait for an answer at most; more fail at once. */
const MAX_COMMANDS = 10_000;

/**
 * What `session.store` names. The text may hold a password: the error does not quote it.
 * @throws OptionError
 */
export function parseSessionStore(text: string): SessionStoreLocation {
  const file = /^sqlite:\/\/(.+)$/s.exec(text)?.[1];
  checkOption(file !== ":memory:" && !file?.includes("\0"), "session.store", "sqlite:// and the path of a file");
  if (file !== undefined) return { kind: "sqlite", file };
  if (isRedisUrl(text)) return { kind: "redis", url: text };
  throw new OptionError("session.store", "redis://HOST, rediss://HOST or sqlite://FILE");
}

function isRedisUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "") return false;
  if (url.search !== "" || url.hash !== "" || !/^(?:\/\d{0,5})?$/.test(url.pathname)) return false;
  try {
    decodeURIComponent(`${url.username}${url.password}`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens a store, and tries it. `place` is where it stands in the configuration: the beginning of what is said when it does not work. Rejects with a
 * failure of status 1.
 */
export async function openSessionStore(store: SessionStoreLocation, place: string): Promise<OpenSessionStore> {
  const opened = store.kind === "redis" ? await openRedis(store.url, place) : await openSqlite(store.file, place);
  try {
    await within(CONNECT_MILLISECONDS, tryStore(opened.store));
    return opened;
  } catch (error) {
    await opened.close();
    throw createFailure(1, [`${place}: the store failed a test: ${toReason(error)}`]);
  }
}

async function tryStore(store: KeyValueStore): Promise<void> {
  const key = `start:${crypto.randomUUID()}`;
  await store.set(key, true, 10_000);
  if ((await store.get(key)) !== true) throw new Error("a written value could not be read");
  await store.delete(key);
}

async function openRedis(url: string, place: string): Promise<OpenSessionStore> {
  const [{ Keyv }, redis] = await loadKeyv(place);
  let isStarted = false;
  const client = redis.createClient({
    url,
    // Who waits for a connection that is gone would wait for as long as it is gone.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    socket: {
      connectTimeout: CONNECT_MILLISECONDS,
      reconnectStrategy: (retries: number) => isStarted && Math.min(2 ** retries * 50, 2000),
    },
  });
  // Without a listener an event of this name ends the process; failures come with the calls.
  client.on("error", () => undefined);
  try {
    await within(CONNECT_MILLISECONDS, client.connect());
  } catch (error) {
    if (client.isOpen) client.destroy();
    const { host } = new URL(url);
    throw createFailure(1, [`${place}: Redis at ${host} cannot be reached: ${toReason(error)}`]);
  }
  isStarted = true;
  const adapter = new redis.default(client, { throwOnErrors: true });
  const store = new Keyv({ store: adapter, namespace: NAMESPACE, useKeyPrefix: false, throwOnErrors: true });

  /** By then every answer that somebody waits for is there; what a silent Redis owes is not waited for. */
  async function close(): Promise<void> {
    if (client.isOpen) client.destroy();
  }

  return { store, close };
}

/** Both are optional peers: who has no use for Redis does not install them. */
async function loadKeyv(place: string): Promise<[typeof import("keyv"), typeof import("@keyv/redis")]> {
  try {
    return await Promise.all([import("keyv"), import("@keyv/redis")]);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw createFailure(1, [`${place}: Redis needs two more packages: npm install keyv@5 @keyv/redis@5`]);
  }
}

async function openSqlite(file: string, place: string): Promise<OpenSessionStore> {
  const { DatabaseSync } = await loadSqlite(place);
  try {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return { store: createSqliteStore(database), close: async () => database.close() };
  } catch (error) {
    throw createFailure(1, [`${place}: ${file}: cannot be opened: ${toReason(error)}`]);
  }
}

/** What of `node:sqlite` is used: the types of Node 20 do not know it. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => SqliteDatabase & { close(): void };
}

async function loadSqlite(place: string): Promise<NodeSqlite> {
  const name = "node:sqlite";
  try {
    return (await import(name)) as NodeSqlite;
  } catch {
    const problem = `SQLite needs Node 22.13 or later, but this is ${process.version}`;
    throw createFailure(1, [`${place}: ${problem}; redis:// works with every version`]);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}

/** What the system, or the store, has to say; it never holds the URL. */
function toReason(error: unknown): string {
  return describeSystemError(error).replaceAll(/\s+/g, " ");
}
