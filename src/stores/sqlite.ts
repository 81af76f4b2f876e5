import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";

/** What of an open SQLite database is used: a `DatabaseSync` of `node:sqlite` has it, and a `Database` of `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** A prepared statement. */
export interface SqliteStatement {
  /** The first row; `undefined` for none. */
  get(...values: readonly (string | number)[]): unknown;
  run(...values: readonly (string | number)[]): unknown;
}

/** How the database is used. */
export interface SqliteStoreOptions {
  /** The table, which is made where it is missing: a word of ASCII letters, digits and `_`. Default: `fileferry`. */
  readonly table?: string;
  /** Milliseconds since the epoch, shared by all processes on one database. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** So many entries that are over each `set` removes: they never outnumber a small part of the living. */
const SWEPT_PER_SET = 10;

/**
 * A store in a table of an SQLite database, for the processes of one machine. The database stays the caller's: it is to be in WAL mode with a
 * `busy_timeout` where several processes write, and is closed behind the store. A call works at once, in some microseconds.
 * @throws TypeError naming the option that is wrong; whatever the database throws. Its methods reject as the database throws.
 */
export function createSqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): KeyValueStore {
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
  const sweep = database.prepare(
    `DELETE FROM "${table}" WHERE key IN (SELECT key FROM "${table}" WHERE expires <= ? LIMIT ${SWEPT_PER_SET})`,
  );

  async function get(key: string): Promise<unknown> {
    const row = select.get(key, clock()) as { readonly value: string } | undefined;
    return row === undefined ? undefined : JSON.parse(row.value);
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw new TypeError("The value is not a JSON value.");
    if (!(ttlMilliseconds > 0)) throw new TypeError("The time to live must be positive.");
    const now = clock();
    upsert.run(key, json, now + ttlMilliseconds);
    sweep.run(now);
  }

  async function forget(key: string): Promise<void> {
    remove.run(key);
  }

  return { get, set, delete: forget };
}
