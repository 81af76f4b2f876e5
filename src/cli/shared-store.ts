import { closeSync, existsSync, openSync } from "node:fs";
import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import { createRedisStore } from "../stores/redis.ts";
import { createSqliteStore, type SqliteDatabase, shareSqliteDatabase } from "../stores/sqlite.ts";
import { within } from "../stores/within.ts";
import { createFailure, describeSystemError } from "./failure.ts";
import { findMissingPackage } from "./optional-package.ts";

/** A store that several processes share, from the configuration. */
export type SharedStoreLocation =
  | { readonly kind: "redis"; readonly url: string }
  /** `file` is the path of the database as in the configuration. */
  | { readonly kind: "sqlite"; readonly file: string };

/** An open store. */
export interface OpenSharedStore {
  readonly store: AtomicKeyValueStore;
  /** Returns the time of the store's machine in POSIX milliseconds. Absent: it is this machine. */
  now?(): Promise<number>;
  close(): Promise<void>;
}

const CONNECT_MILLISECONDS = 5000;
/** The number of commands that wait for a reply of Redis at most; more fail immediately. */
const MAX_COMMANDS = 10_000;

/**
 * Parses `session.store`, or another `option` of this kind. The text may hold a password, so the error does not quote
 * it.
 * @throws OptionError
 */
export function parseSharedStore(text: string, option = "session.store"): SharedStoreLocation {
  const file = /^sqlite:\/\/(.+)$/s.exec(text)?.[1];
  checkOption(file !== ":memory:" && !file?.includes("\0"), option, "sqlite:// and the path of a file");
  if (file !== undefined) return { kind: "sqlite", file };
  if (isRedisUrl(text)) return { kind: "redis", url: text };
  throw new OptionError(option, "redis://HOST, rediss://HOST or sqlite://FILE");
}

/** The value of an option whose store is in the memory of the process, and ends with it. */
export const MEMORY = "memory";

/** Parses a store that may also be `memory`, which is `undefined`. @throws OptionError */
export function parseOwnOrSharedStore(text: string, option: string): SharedStoreLocation | undefined {
  if (text === MEMORY) return undefined;
  const isLocation = /^(?:rediss?|sqlite):/i.test(text);
  checkOption(isLocation, option, "memory, redis://HOST, rediss://HOST or sqlite://FILE");
  return parseSharedStore(text, option);
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
 * Why no store of a kind can be opened here, whatever its address is, with what to do; `undefined` if one can. Redis
 * needs a package that is an optional peer dependency.
 */
export async function findStoreProblem({ kind }: SharedStoreLocation): Promise<string | undefined> {
  if (kind === "redis") {
    return findMissingPackage(() => import("redis"), "Redis needs one more package: npm install redis@5");
  }
  try {
    await loadSqlite();
    return undefined;
  } catch {
    return `SQLite needs Node 22.13 or later, but this is ${process.version}; redis:// works with every version`;
  }
}

/**
 * Opens a store and tests it. `key` is the file and key of the configuration that name the store; it begins the
 * problem. Rejects with a failure: of status 1 if the store does not work, of status 2 if none of its kind can.
 */
export async function openSharedStore(store: SharedStoreLocation, key: string): Promise<OpenSharedStore> {
  const problem = await findStoreProblem(store);
  if (problem !== undefined) throw createFailure(2, [`${key}: ${problem}`]);
  const opened = store.kind === "redis" ? await openRedis(store.url, key) : await openSqlite(store.file, key);
  try {
    await within(CONNECT_MILLISECONDS, tryStore(opened.store));
    return opened;
  } catch (error) {
    await opened.close();
    throw createFailure(1, [`${key}: the store failed a test: ${toReason(error)}`]);
  }
}

async function tryStore(store: AtomicKeyValueStore): Promise<void> {
  const key = `start:${crypto.randomUUID()}`;
  await store.set(key, true, 10_000);
  if ((await store.get(key)) !== true) throw new Error("a written value could not be read");
  await store.delete(key);
}

async function openRedis(url: string, key: string): Promise<OpenSharedStore> {
  const redis = await import("redis");
  let isStarted = false;
  const client = redis.createClient({
    url,
    // Commands fail while the connection is lost. A queue would make requests wait until it is back.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    socket: {
      connectTimeout: CONNECT_MILLISECONDS,
      reconnectStrategy: (retries: number) => isStarted && Math.min(2 ** retries * 50, 2000),
    },
  });
  // Without a listener an `error` event ends the process. The calls report failures.
  client.on("error", () => undefined);
  try {
    await within(CONNECT_MILLISECONDS, client.connect());
  } catch (error) {
    if (client.isOpen) client.destroy();
    const { host } = new URL(url);
    throw createFailure(1, [`${key}: Redis at ${host} cannot be reached: ${toReason(error)}`]);
  }
  isStarted = true;
  const store = createRedisStore(client);

  /** The service is closed before, so no caller waits for a reply; a Redis that hangs must not delay the end. */
  async function close(): Promise<void> {
    if (client.isOpen) client.destroy();
  }

  /** Redis replies with seconds and microseconds. */
  async function now(): Promise<number> {
    const [seconds, microseconds] = (await within(CONNECT_MILLISECONDS, client.sendCommand(["TIME"]))) as string[];
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  }

  return { store, now, close };
}

async function openSqlite(file: string, key: string): Promise<OpenSharedStore> {
  const { DatabaseSync } = await loadSqlite();
  try {
    // The store decides who is logged in: only its owner may read and write it. SQLite gives its other files the same
    // permissions. Only a new file is opened here: POSIX ends all locks that a process has on a file when the process
    // closes any descriptor of it, so an open connection would lose those of SQLite.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    const database = new DatabaseSync(file);
    await shareSqliteDatabase(database);
    return { store: createSqliteStore(database), close: async () => database.close() };
  } catch (error) {
    throw createFailure(1, [`${key}: ${file}: cannot be opened: ${toReason(error)}`]);
  }
}

/** The part of `node:sqlite` that is used. The types of Node 20 do not have the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => SqliteDatabase & { close(): void };
}

/** Rejects on a version of Node that does not have the module. */
async function loadSqlite(): Promise<NodeSqlite> {
  const name = "node:sqlite";
  return (await import(name)) as NodeSqlite;
}

/** The reason of the system or the store, which never holds the URL. */
function toReason(error: unknown): string {
  return describeSystemError(error).replaceAll(/\s+/g, " ");
}
