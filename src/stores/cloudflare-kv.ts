import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";

/** The part of a Workers KV binding that the store uses. */
export interface CloudflareKvNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options: { expirationTtl: number }): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Options of {@link createCloudflareKvStore}. */
export interface CloudflareKvStoreOptions {
  /** The beginning of every key, so that other programs may use the namespace too. At most 256 bytes. Default: `""`. */
  readonly prefix?: string;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** A stored value. It has its own expiry time, because Workers KV keeps every key for at least a minute. */
interface Kept {
  readonly value: unknown;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** The shortest time that Workers KV keeps a key. */
const LEAST_SECONDS = 60;
const MAX_PREFIX_BYTES = 256;

/**
 * A store in a namespace of Workers KV (`env.SESSIONS`). A change is visible immediately in the location that made it,
 * and within about a minute in others: after a logout or a password change, sessions may live that long elsewhere.
 * Workers KV allows one write per second and key, so count failed logins in another store (`limits.loginStore`).
 * Methods reject as the binding does.
 * @throws OptionError
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

/** Checks the methods one by one: a binding is an object of a runtime's class, or a proxy. */
function isNamespace(namespace: CloudflareKvNamespace | undefined): namespace is CloudflareKvNamespace {
  return [namespace?.get, namespace?.put, namespace?.delete].every((method) => typeof method === "function");
}
