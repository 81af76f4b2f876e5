import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";

/** What of a Workers KV binding is used. */
export interface CloudflareKvNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options: { expirationTtl: number }): Promise<void>;
  delete(key: string): Promise<void>;
}

/** How the namespace is used. */
export interface CloudflareKvStoreOptions {
  /** Begins every key, so that others may use the namespace too. At most 256 bytes. Default: `""`. */
  readonly prefix?: string;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** What is kept: Workers KV forgets nothing before a minute is over, so the time stands beside the value. */
interface Kept {
  readonly value: unknown;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Seconds that Workers KV keeps a key at least. */
const LEAST_SECONDS = 60;
const MAX_PREFIX_BYTES = 256;

/**
 * A store in a namespace of Workers KV (`env.SESSIONS`). What was set is seen at once where it was set and within about a minute elsewhere; so a logout
 * and a change of password may take as long to end sessions in other places. A key takes one write a second: count failed logins in
 * another store (`limits.loginStore`).
 * @throws TypeError naming what is wrong. Its methods reject as the binding does.
 */
export function createCloudflareKvStore(
  namespace: CloudflareKvNamespace,
  options: CloudflareKvStoreOptions = {},
): KeyValueStore {
  const { prefix = "", clock = Date.now } = options;
  checkOption(isNamespace(namespace), "namespace", "a binding of Workers KV");
  const isPrefix = typeof prefix === "string" && new TextEncoder().encode(prefix).byteLength <= MAX_PREFIX_BYTES;
  checkOption(isPrefix, "prefix", `a text of at most ${MAX_PREFIX_BYTES} bytes`);

  async function get(key: string): Promise<unknown> {
    const text = await namespace.get(prefix + key);
    if (text === null) return undefined;
    const { value, expires }: Kept = JSON.parse(text);
    return expires > clock() ? value : undefined;
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    if (JSON.stringify(value) === undefined) throw new TypeError("The value is not a JSON value.");
    if (!(ttlMilliseconds > 0)) throw new TypeError("The time to live must be positive.");
    const kept: Kept = { value, expires: clock() + ttlMilliseconds };
    const expirationTtl = Math.max(LEAST_SECONDS, Math.ceil(ttlMilliseconds / 1000));
    await namespace.put(prefix + key, JSON.stringify(kept), { expirationTtl });
  }

  return { get, set, delete: (key) => namespace.delete(prefix + key) };
}

/** A binding's methods are those of a class of the runtime, or of a proxy. */
function isNamespace(namespace: CloudflareKvNamespace | undefined): namespace is CloudflareKvNamespace {
  return [namespace?.get, namespace?.put, namespace?.delete].every((method) => typeof method === "function");
}
