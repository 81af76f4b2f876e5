import type { ApiKey, FoundKey } from "../../contracts/api-keys.ts";
import type { Authenticator } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { describeAccountIssues, parseAccountSettings } from "../../schemas/account.ts";
import { apiKeySchema } from "../../schemas/api-keys.ts";

/** How many keys an account may make, with those that have expired. */
const MAX_KEYS = 100;

/** A key, and the method that keeps it. */
export interface ChainKey extends FoundKey {
  /** The name of the method. */
  readonly method: string;
}

/**
 * The API keys of a chain's methods. Every function rejects with HttpError `unavailable` if a method fails, and logs
 * the failure.
 */
export interface ChainKeys {
  /** Returns a key, with checked settings of its account. */
  find(id: string): Promise<ChainKey | undefined>;
  /** Returns the keys of an account; `undefined` if no method keeps keys for it. */
  list(username: string): Promise<readonly ApiKey[] | undefined>;
  /** Whether keys of an account can be made and revoked here. */
  isChangeable(username: string): Promise<boolean>;
  /**
   * Keeps a key. @throws HttpError `keys-unsupported` if no method does, `too-many-keys` if the account has as many as
   * it may make.
   */
  add(username: string, key: ApiKey): Promise<void>;
  /** Removes a key. Returns whether it was there. */
  remove(username: string, id: string): Promise<boolean>;
}

/** Options of {@link createChainKeys}. */
export interface ChainKeysOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  /** Starts a method that was not started. */
  startMethod(method: Authenticator): Promise<void>;
  readonly logger: Logger | undefined;
}

/** Creates the keys of a chain; `undefined` if no method keeps keys. */
export function createChainKeys({ methods, startMethod, logger }: ChainKeysOptions): ChainKeys | undefined {
  const withAddLock = createRequestMutex();
  const keepers = methods.flatMap((method) => (method.keys === undefined ? [] : [{ method, keys: method.keys }]));
  if (keepers.length === 0) return undefined;

  async function ask<T>({ method }: (typeof keepers)[number], work: () => Promise<T>): Promise<T> {
    try {
      await startMethod(method);
      return await work();
    } catch (error) {
      if (isHttpError(error)) throw error;
      logger?.error({ method: method.name, error }, "An authentication method failed; API keys were not available.");
      throw createError("keys-unavailable", { headers: { "Retry-After": "1" } });
    }
  }

  /** The method that keeps the keys of an account, with its keys. */
  async function findKeeper(username: string) {
    for (const keeper of keepers) {
      const list = await ask(keeper, () => keeper.keys.list(username));
      if (list !== undefined) return { ...keeper, list };
    }
    return undefined;
  }

  async function find(id: string): Promise<ChainKey | undefined> {
    for (const keeper of keepers) {
      const found = await ask(keeper, () => keeper.keys.find(id));
      if (found !== undefined) return toUsable(keeper.method, found);
    }
    return undefined;
  }

  /** Checks at run time what a method returns: what is not understood could be what forbids something. */
  function toUsable({ name: method }: Authenticator, { username, account, key }: FoundKey): ChainKey | undefined {
    const settings = parseAccountSettings(account);
    if (settings.success && checkedKeys.has(key)) return { username, account: settings.data, key, method };
    const parsed = apiKeySchema.safeParse(key);
    if (settings.success && parsed.success) {
      checkedKeys.add(key);
      return { username, account: settings.data, key, method };
    }
    const problems = [settings, parsed].flatMap(({ error }) => (error ? describeAccountIssues(error) : []));
    logger?.error({ method, username, problems }, "An API key or its account has settings that cannot be used.");
    return undefined;
  }

  async function isChangeable(username: string): Promise<boolean> {
    const { add, remove } = (await findKeeper(username))?.keys ?? {};
    return add !== undefined && remove !== undefined;
  }

  /** Requests at the same moment must not count the same keys. */
  async function add(username: string, key: ApiKey): Promise<void> {
    await withAddLock(username, async () => {
      const keeper = await findKeeper(username);
      if (keeper !== undefined && keeper.list.length >= MAX_KEYS) {
        throw createError("too-many-keys", { values: { max: MAX_KEYS } });
      }
      const isAdded = keeper !== undefined && (await ask(keeper, async () => keeper.keys.add?.(username, key)));
      if (isAdded !== true) throw createError("keys-unsupported");
    });
  }

  async function remove(username: string, id: string): Promise<boolean> {
    const keeper = await findKeeper(username);
    if (keeper === undefined || !keeper.list.some((key) => key.id === id)) return false;
    const isRemoved = await ask(keeper, async () => keeper.keys.remove?.(username, id));
    if (isRemoved === undefined) throw createError("keys-unsupported");
    return isRemoved;
  }

  return { find, list: async (username) => (await findKeeper(username))?.list, isChangeable, add, remove };
}

/** Keys that were checked: a method that keeps them in memory returns the same objects. */
const checkedKeys = new WeakSet<ApiKey>();
