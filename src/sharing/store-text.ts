import { createTextUpdates } from "../contracts/atomic-store.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { orRetryError } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";
import { sha256Hex } from "../platform/sha256.ts";

/** Texts in the store of links. Every method rejects with HttpError `unavailable` if the store fails. */
export interface StoreTexts {
  get(key: string): Promise<string | undefined>;
  /** Changes the text of a key, as `UpdateStoredText` does. `expires` returns milliseconds. */
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
  const update = createTextUpdates(store);

  async function get(key: string): Promise<string | undefined> {
    const value = await store.get(key);
    return typeof value === "string" ? value : undefined;
  }

  return {
    get: (key) => mapStoreErrors(() => get(key)),
    update: (key, expires, change) => mapStoreErrors(() => update(key, () => Math.max(1, expires() - clock()), change)),
  };
}

/** Runs work on the store of links. A change may refuse with an HttpError of its own. */
function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  return orRetryError("link-store-unavailable", work, isHttpError);
}
