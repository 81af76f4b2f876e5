import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { type Replacement, toEntryText, toReplacement } from "./entry-text.ts";

/**
 * The part of an open database that the store uses: `DatabaseSync` of `node:sqlite` or `Database` of `better-sqlite3`.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** A prepared statement. */
export interface SqliteStatement {
  /** Returns the first row; `undefined` if there is none. */
  get(...values: readonly (string | number)[]): unknown;
  /** `changes` is the number of rows that the statement inserted, updated or deleted. */
  run(...values: readonly (string | number)[]): { readonly changes: number | bigint };
}

/** Options of {@link createSqliteStore}. */
export interface SqliteStoreOptions {
  /** The table, which is created if it is missing: a word of ASCII letters, digits and `_`. Default: `fileferry`. */
  readonly table?: string;
  /** Milliseconds since the epoch, shared by all processes on one database. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** The number of expired entries that each write removes at most, so that they remain a small part of all. */
const SWEPT_PER_WRITE = 10;

/** For how long a call waits for another process that writes. */
const BUSY_MS = 5000;
const RETRY_MS = 10;

/**
 * Prepares a database that several processes write: WAL mode, and calls that wait up to 5 seconds for each other.
 * SQLite refuses one of two processes that set the mode of a new database at the same time, and does not wait. Such a
 * refusal is tried again. Rejects with any other error of the database.
 */
export async function shareSqliteDatabase(database: SqliteDatabase): Promise<void> {
  const end = performance.now() + BUSY_MS;
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      return;
    } catch (error) {
      const isLocked = error instanceof Error && error.message.includes("database is locked");
      if (!isLocked || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * A store in a table of an SQLite database, for the processes of one machine. The caller owns the database: prepare it
 * with {@link shareSqliteDatabase} if several processes write, and close it after the service. A call is synchronous
 * and takes some microseconds. Methods reject with the errors of the database.
 * @throws OptionError; any error of the database.
 */
export function createSqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): AtomicKeyValueStore {
  const { table = "fileferry", clock = Date.now } = options;
  const isName = typeof table === "string" && /^[A-Za-z_]\w{0,62}$/.test(table);
  checkOption(isName, "table", "1 to 63 letters, digits and _, the first one no digit");
  database.exec(`CREATE TABLE IF NOT EXISTS "${table}" (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS "${table}_expires" ON "${table}" (expires)`);
  const select = database.prepare(`SELECT value FROM "${table}" WHERE key = ? AND expires > ?`);
  const upsert = database.prepare(
    `INSERT INTO "${table}" (key, value, expires) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
  );
  const remove = database.prepare(`DELETE FROM "${table}" WHERE key = ?`);
  const insert = database.prepare(
    `INSERT INTO "${table}" (key, value, expires) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires
     WHERE "${table}".expires <= ?`,
  );
  const update = database.prepare(
    `UPDATE "${table}" SET value = ?, expires = ? WHERE key = ? AND value = ? AND expires > ?`,
  );
  const removeExpected = database.prepare(`DELETE FROM "${table}" WHERE key = ? AND value = ? AND expires > ?`);
  const sweep = database.prepare(
    `DELETE FROM "${table}" WHERE key IN (SELECT key FROM "${table}" WHERE expires <= ? LIMIT ${SWEPT_PER_WRITE})`,
  );

  async function get(key: string): Promise<unknown> {
    const row = select.get(key, clock()) as { readonly value: string } | undefined;
    return row === undefined ? undefined : JSON.parse(row.value);
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json = toEntryText(value, ttlMilliseconds);
    const now = clock();
    upsert.run(key, json, now + ttlMilliseconds);
    sweep.run(now);
  }

  /** Each branch is one statement, which SQLite executes atomically. */
  function replaceJson(key: string, { expected, next }: Replacement, now: number, expires: number): boolean {
    if (next === undefined) {
      if (expected === undefined) return select.get(key, now) === undefined;
      return Number(removeExpected.run(key, expected, now).changes) > 0;
    }
    if (expected === undefined) return Number(insert.run(key, next, expires, now).changes) > 0;
    return Number(update.run(next, expires, key, expected, now).changes) > 0;
  }

  async function replace(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    ttlMilliseconds: number,
  ): Promise<boolean> {
    const texts = toReplacement(expected, next, ttlMilliseconds);
    const now = clock();
    const isReplaced = replaceJson(key, texts, now, now + ttlMilliseconds);
    if (isReplaced && texts.next !== undefined) sweep.run(now);
    return isReplaced;
  }

  async function forget(key: string): Promise<void> {
    remove.run(key);
  }

  return { get, set, delete: forget, replace };
}
