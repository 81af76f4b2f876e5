/**
 * The part of a binding of Durable Objects that the store uses, such as `env.STORE`. Callers therefore do not need the
 * types of a runtime.
 */
export interface DurableObjectNamespace {
  idFromName(name: string): unknown;
  get(id: unknown): DurableObjectStub;
}

/** A connection to one object. */
export interface DurableObjectStub {
  fetch(url: string, init: { method: string; body: string }): Promise<DurableObjectReply>;
}

/** The response of an object. */
export interface DurableObjectReply {
  /** Returns the body, parsed as JSON. */
  json(): Promise<unknown>;
}

/** The part of an object's state that `FileferryStore` uses. */
export interface DurableObjectState {
  readonly storage: DurableObjectStorage;
}

/** The storage of an object of a class in `new_sqlite_classes`. */
export interface DurableObjectStorage {
  readonly sql: SqlStorage;
  getAlarm(): Promise<number | null>;
  setAlarm(scheduledTime: number): Promise<void>;
}

/** The database of an object. */
export interface SqlStorage {
  exec(query: string, ...bindings: (string | number)[]): SqlCursor;
}

/** The result of a statement. */
export interface SqlCursor {
  toArray(): unknown[];
  /** The number of rows that the statement wrote, those of indexes included. */
  readonly rowsWritten: number;
}
