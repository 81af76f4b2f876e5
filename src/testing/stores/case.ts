import type { AtomicKeyValueStore } from "../../contracts/atomic-store.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";

/** What a case of `storeCases` receives. */
export interface StoreCaseContext {
  /** The store under test. It need not be empty, because every case uses its own keys. */
  readonly store: KeyValueStore;
  /** Advances the store's time: really waits, or moves an injected clock forward. */
  wait(milliseconds: number): Promise<void>;
  /**
   * Time to live of entries that expire in a case, in milliseconds. Default: 200. Use more for a store that counts in
   * seconds.
   */
  readonly ttl?: number;
}

/** One promise of the {@link KeyValueStore} contract. */
export interface StoreCase {
  readonly name: string;
  /** Rejects with an explanation if the store breaks the promise. */
  run(context: StoreCaseContext): Promise<void>;
}

/** What a case of `atomicStoreCases` receives. */
export interface AtomicStoreCaseContext extends StoreCaseContext {
  readonly store: AtomicKeyValueStore;
  /**
   * A second connection to the same data, as another process has. Default: `store`. Calls that compete go to both.
   */
  readonly other?: AtomicKeyValueStore;
}

/** One promise of the {@link AtomicKeyValueStore} contract. */
export interface AtomicStoreCase {
  readonly name: string;
  /** Rejects with an explanation if the store breaks the promise. */
  run(context: AtomicStoreCaseContext): Promise<void>;
}
