import type { AtomicKeyValueStore } from "../../contracts/atomic-store.ts";
import { createSqliteStore, type SqliteDatabase } from "../sqlite.ts";
import type { DurableObjectState, DurableObjectStorage, SqlStorage } from "./binding.ts";
import type { StoreCall } from "./calls.ts";

const TABLE = "fileferry";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * The class of the Durable Objects that hold the entries. Export it from the Worker's main module, and name it in
 * `new_sqlite_classes` of a migration. It responds only to `createDurableObjectStore`: do not pass requests of clients
 * to it.
 */
export class FileferryStore {
  /** The mark of a Durable Object in the types of Workers. It has no value. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly #storage: DurableObjectStorage;
  readonly #store: AtomicKeyValueStore;
  #hasAlarm = false;

  /** Called by the runtime. */
  constructor(state: DurableObjectState) {
    this.#storage = state.storage;
    this.#store = createSqliteStore(toDatabase(state.storage.sql), { table: TABLE });
  }

  /** Performs one call of the store. */
  async fetch(request: Request): Promise<Response> {
    const call: StoreCall = await request.json();
    // Between the start of a call and its end, no other one runs: SQLite is synchronous here.
    const result = await perform(this.#store, call);
    if (call.method === "set" || call.method === "replace") await this.#ensureAlarm();
    return new Response(JSON.stringify({ result }));
  }

  /** Removes expired entries, even without further calls. */
  async alarm(): Promise<void> {
    const now = Date.now();
    const { sql } = this.#storage;
    sql.exec(`DELETE FROM "${TABLE}" WHERE expires <= ?`, now);
    const [row] = sql.exec(`SELECT min(expires) AS earliest FROM "${TABLE}"`).toArray();
    const { earliest } = row as { readonly earliest: number | null };
    this.#hasAlarm = earliest !== null;
    if (earliest !== null) await this.#storage.setAlarm(Math.min(Math.max(earliest, now + HOUR), now + DAY));
  }

  async #ensureAlarm(): Promise<void> {
    if (this.#hasAlarm) return;
    if ((await this.#storage.getAlarm()) === null) await this.#storage.setAlarm(Date.now() + HOUR);
    this.#hasAlarm = true;
  }
}

function perform(store: AtomicKeyValueStore, call: StoreCall): Promise<unknown> {
  const { key } = call;
  switch (call.method) {
    case "get":
      return store.get(key);
    case "set":
      return store.set(key, call.value, call.ttlMilliseconds);
    case "delete":
      return store.delete(key);
    case "replace":
      return store.replace(key, call.expected, call.next, call.ttlMilliseconds);
  }
}

function toDatabase(sql: SqlStorage): SqliteDatabase {
  return {
    exec: (query) => sql.exec(query),
    prepare: (query) => ({
      get: (...values) => sql.exec(query, ...values).toArray()[0],
      run: (...values) => ({ changes: sql.exec(query, ...values).rowsWritten }),
    }),
  };
}
