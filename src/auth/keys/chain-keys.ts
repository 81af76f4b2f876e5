import type { AccountSettings } from "../../contracts/account.ts";
import type { ApiKey, FoundKey } from "../../contracts/api-keys.ts";
import type { Authenticator } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createError } from "../../http/errors.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { describeAccountIssues, haveEqualSettings, parseAccountSettings } from "../../schemas/account.ts";
import { apiKeySchema } from "../../schemas/api-keys.ts";
import type { CallMethod } from "../method-calls.ts";

/** How many keys an account may make, with those that have expired. */
const MAX_KEYS = 100;

/** The account of a login, which has the keys of the method's account with the same name and the same settings. */
export interface KeyOwner {
  readonly username: string;
  /** As the login has them. */
  readonly settings: AccountSettings;
}

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
  list(owner: KeyOwner): Promise<readonly ApiKey[] | undefined>;
  /** Whether keys of an account can be made and revoked here. */
  isChangeable(owner: KeyOwner): Promise<boolean>;
  /**
   * Keeps a key. @throws HttpError `keys-unsupported` if no method does, `too-many-keys` if the account has as many as
   * it may make.
   */
  add(owner: KeyOwner, key: ApiKey): Promise<void>;
  /** Removes a key. Returns whether it was there. */
  remove(owner: KeyOwner, id: string): Promise<boolean>;
}

/** Options of {@link createChainKeys}. */
export interface ChainKeysOptions {
  /** The methods of the chain, in their order. */
  readonly methods: readonly Authenticator[];
  readonly callMethod: CallMethod;
  readonly logger: Logger | undefined;
}

/** Creates the keys of a chain; `undefined` if no method keeps keys. */
export function createChainKeys({ methods, callMethod, logger }: ChainKeysOptions): ChainKeys | undefined {
  const withAddLock = createRequestMutex();
  const keepers = methods.flatMap((method) => (method.keys === undefined ? [] : [{ method, keys: method.keys }]));
  if (keepers.length === 0) return undefined;

  function ask<T>({ method }: (typeof keepers)[number], work: () => Promise<T>, username?: string): Promise<T> {
    const failure = { code: "keys-unavailable", consequence: "API keys were not available" } as const;
    return callMethod(method, username === undefined ? failure : { ...failure, username }, work);
  }

  /** The method that keeps the keys of an account, with its keys. */
  async function findKeeper(owner: KeyOwner) {
    const { username } = owner;
    for (const keeper of keepers) {
      const list = await ask(keeper, () => keeper.keys.list(username), username);
      if (list === undefined) continue;
      return (await ask(keeper, () => isOwner(keeper.method, owner), username)) ? { ...keeper, list } : undefined;
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

  async function isChangeable(owner: KeyOwner): Promise<boolean> {
    const { add, remove } = (await findKeeper(owner))?.keys ?? {};
    return add !== undefined && remove !== undefined;
  }

  /** Requests at the same moment must not count the same keys. */
  async function add(owner: KeyOwner, key: ApiKey): Promise<void> {
    const { username } = owner;
    await withAddLock(username, async () => {
      const keeper = await findKeeper(owner);
      if (keeper !== undefined && keeper.list.length >= MAX_KEYS) {
        throw createError("too-many-keys", { values: { max: MAX_KEYS } });
      }
      const isAdded =
        keeper !== undefined && (await ask(keeper, async () => keeper.keys.add?.(username, key), username));
      if (isAdded !== true) throw createError("keys-unsupported");
    });
  }

  async function remove(owner: KeyOwner, id: string): Promise<boolean> {
    const { username } = owner;
    const keeper = await findKeeper(owner);
    if (keeper === undefined || !keeper.list.some((key) => key.id === id)) return false;
    const isRemoved = await ask(keeper, async () => keeper.keys.remove?.(username, id), username);
    if (isRemoved === undefined) throw createError("keys-unsupported");
    return isRemoved;
  }

  return { find, list: async (owner) => (await findKeeper(owner))?.list, isChangeable, add, remove };
}

/**
 * Whether the account of a method is that of a login. Otherwise a login by another method, which permits less, would
 * make keys with all that the account of the same name may do.
 */
async function isOwner(method: Authenticator, { username, settings }: KeyOwner): Promise<boolean> {
  const found = await method.lookup?.(username);
  if (found?.outcome !== "found") return false;
  // As at a login, which may write them in another form.
  const parsed = parseAccountSettings(found.account);
  return parsed.success && haveEqualSettings(parsed.data, settings);
}

/** Keys that were checked: a method that keeps them in memory returns the same objects. */
const checkedKeys = new WeakSet<ApiKey>();
