import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { toEntryText, toReplacement } from "./entry-text.ts";
import { within } from "./within.ts";

/** The part of a connected client of the package `redis` 5 that the store uses; a cluster or a pool has it too. */
export interface RedisClient {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: { expiration: { type: "PX"; value: number } }): Promise<unknown>;
  del(key: string): Promise<unknown>;
  eval(script: string, options: RedisScriptOptions): Promise<unknown>;
  evalSha(sha1: string, options: RedisScriptOptions): Promise<unknown>;
}

/** The input of a Lua script. */
export interface RedisScriptOptions {
  keys: string[];
  arguments: string[];
}

/** Options of {@link createRedisStore}. */
export interface RedisStoreOptions {
  /** The beginning of every key. Services with the same prefix share their sessions. Default: `fileferry:`. */
  readonly prefix?: string;
  /**
   * A call that takes longer fails: a client without a connection may wait for a new one. At most 600,000. Default:
   * 5000.
   */
  readonly timeoutMilliseconds?: number;
}

/** Compares and replaces JSON texts. An empty argument, which is not JSON, means nothing. Scripts are atomic. */
const REPLACE = `if (redis.call("GET", KEYS[1]) or "") ~= ARGV[1] then return 0 end
if ARGV[2] == "" then redis.call("DEL", KEYS[1]) else redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3]) end
return 1`;

/**
 * A store in Redis, for any number of machines. The caller owns the client: connect it, listen to its `error` events,
 * and close it after the service. Configure Redis to refuse writes when it is full (`noeviction`). Methods reject with
 * the errors of the client.
 * @throws OptionError
 */
export function createRedisStore(client: RedisClient, options: RedisStoreOptions = {}): AtomicKeyValueStore {
  const { prefix = "fileferry:", timeoutMilliseconds = 5000 } = options;
  checkOption(isClient(client), "client", "a client of the package redis");
  checkOption(typeof prefix === "string", "prefix", "a text");
  const isTime =
    Number.isSafeInteger(timeoutMilliseconds) && timeoutMilliseconds >= 1 && timeoutMilliseconds <= 600_000;
  checkOption(isTime, "timeoutMilliseconds", "a whole number from 1 to 600000");
  let sha1: Promise<string> | undefined;

  /** Sends the hash of the script alone. A server that does not know it yet, such as after a restart, gets its text. */
  async function runScript(input: RedisScriptOptions): Promise<unknown> {
    sha1 ??= toSha1(REPLACE);
    try {
      return await client.evalSha(await sha1, input);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return client.eval(REPLACE, input);
    }
  }

  async function get(key: string): Promise<unknown> {
    const json = await within(timeoutMilliseconds, client.get(prefix + key));
    return json === null ? undefined : JSON.parse(json);
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json = toEntryText(value, ttlMilliseconds);
    const expiration = { type: "PX", value: toWholeMilliseconds(ttlMilliseconds) } as const;
    await within(timeoutMilliseconds, client.set(prefix + key, json, { expiration }));
  }

  async function replace(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    ttlMilliseconds: number,
  ): Promise<boolean> {
    const texts = toReplacement(expected, next, ttlMilliseconds);
    const ttl = next === undefined ? "" : String(toWholeMilliseconds(ttlMilliseconds));
    const input = { keys: [prefix + key], arguments: [texts.expected ?? "", texts.next ?? "", ttl] };
    return (await within(timeoutMilliseconds, runScript(input))) === 1;
  }

  return { get, set, delete: (key) => within(timeoutMilliseconds, client.del(prefix + key)), replace };
}

/** Redis takes no fractions. */
function toWholeMilliseconds(milliseconds: number): number {
  return Math.ceil(milliseconds);
}

async function toSha1(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Checks the methods one by one: a client is an object of a class, or a proxy. */
function isClient(client: RedisClient | undefined): client is RedisClient {
  const methods = [client?.get, client?.set, client?.del, client?.eval, client?.evalSha];
  return methods.every((method) => typeof method === "function");
}
