import { isAtomicStore, updateText } from "../contracts/atomic-store.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { createError } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { sha256Hex } from "../platform/sha256.ts";

/** Texts in the store of links. Every method rejects with HttpError `unavailable` if the store fails. */
export interface StoreTexts {
  get(key: string): Promise<string | undefined>;
  /**
   * Changes the text of a key, and returns the new one. `undefined` means nothing. In one step among all processes if
   * the store is atomic, else in this process. `change` may be called more than once; if it throws, nothing changes.
   */
  update(
    key: string,
    expires: () => number,
    change: (current: string | undefined) => string | undefined,
  ): Promise<string | undefined>;
}

/** Returns the key of a private text: readers of the store see its SHA-256 only. */
export function toLinkKey(kind: string, text: string): string {
  return `${kind}:${sha256Hex(text)}`;
}

/** Creates the texts of a store. `clock` returns milliseconds. */
export function createStoreTexts(store: KeyValueStore, clock: () => number): StoreTexts {
  const inTurn = createRequestMutex();

  async function get(key: string): Promise<string | undefined> {
    const value = await store.get(key);
    return typeof value === "string" ? value : undefined;
  }

  async function update(
    key: string,
    expires: () => number,
    change: (current: string | undefined) => string | undefined,
  ): Promise<string | undefined> {
    const toTtl = (): number => Math.max(1, expires() - clock());
    return inTurn(key, async () => {
      // Many requests of this process would lose their attempts to each other.
      if (isAtomicStore(store)) return updateText(store, key, toTtl, change);
      const current = await get(key);
      const next = change(current);
      if (next !== undefined) await store.set(key, next, toTtl());
      else if (current !== undefined) await store.delete(key);
      return next;
    });
  }

  return {
    get: (key) => mapStoreErrors(() => get(key)),
    update: (...change) => mapStoreErrors(() => update(...change)),
  };
}

async function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isHttpError(cause)) throw cause;
    throw createError("link-store-unavailable", { headers: { "Retry-After": "1" }, cause });
  }
}
