import type { Groups } from "../../account/account.ts";
import { type AccountEntry, createAccountsAuthenticator } from "../../auth/accounts/accounts.ts";
import { type AccountsFileOptions, createWatchedAccountsFile } from "../../auth/accounts/accounts-file-node.ts";
import { createOidcAuthenticator } from "../../auth/oidc.ts";
import type { AccountKeys } from "../../contracts/api-keys.ts";
import type { Authenticator } from "../../contracts/authenticator.ts";
import type { OnEvent } from "../../contracts/events/file-event.ts";
import { createHttpAuthenticator } from "../../remote-auth/http-authenticator.ts";
import { logUnusableAccounts, toSettingsByName } from "./accounts.ts";
import { addProblem, type ConfigContext, toConfigFailure, toOneLine } from "./context.ts";
import type { AuthenticationEntry, ConfigFile } from "./schema.ts";

/** Creates the methods of `authentication`, in their order. `listeners` get their events. */
export function toMethods(
  config: ConfigFile,
  groups: Groups,
  context: ConfigContext,
  listeners: readonly OnEvent[],
): readonly Authenticator[] {
  return config.authentication.map((entry, index) => {
    if (entry.type === "http") return toHttpAuthenticator(entry, config, context, listeners);
    if (entry.type === "oidc") return toOidcAuthenticator(entry, index, context);
    return toAuthenticator(entry, index, groups, context);
  });
}

/** The start fails if the package that it needs is not installed. */
function toOidcAuthenticator(
  { type: _type, ...options }: Extract<AuthenticationEntry, { type: "oidc" }>,
  index: number,
  context: ConfigContext,
): Authenticator {
  const authenticator = createOidcAuthenticator(options);
  return { ...authenticator, start: () => startWithProblems(authenticator, `authentication[${index}]`, context) };
}

/** The requests of the method name this server, and the component that its users log in to (CONTRACT 9.4). */
function toHttpAuthenticator(
  { type: _type, ...options }: Extract<AuthenticationEntry, { type: "http" }>,
  { server, component, listen, publicOrigin }: ConfigFile,
  { logger }: ConfigContext,
  listeners: readonly OnEvent[],
): Authenticator {
  const isSecure = publicOrigin ? publicOrigin.startsWith("https:") : listen?.tls !== undefined;
  return createHttpAuthenticator({
    ...options,
    onEvent: (event) => {
      for (const listener of listeners) listener(event);
    },
    ...(server?.uuid !== undefined && { server: { uuid: server.uuid } }),
    creator: { ...component, type: isSecure ? "https" : "http" },
    logger,
  });
}

function toAuthenticator(
  entry: Extract<AuthenticationEntry, { type: "accounts" }>,
  index: number,
  groups: Groups,
  context: ConfigContext,
): Authenticator {
  const { logger, passwordHasher, worker, isShared } = context;
  if (entry.file === undefined) {
    const create = (accounts: readonly AccountEntry[] = []): Authenticator =>
      createAccountsAuthenticator({ accounts, passwordHasher, logger });
    const { current, toReplacement } = toReplaceable(create(entry.accounts));
    context.accountReloads.set(index, (accounts) => toReplacement(create(accounts)));
    return current;
  }
  const path = context.toPath(entry.file);
  const options: AccountsFileOptions = {
    file: path,
    passwordHasher,
    logger,
    // Changes by another process count immediately: else an old password would still log in, and a new one would not.
    ...(isShared && { recheckSeconds: 0 }),
    // Two workers must not write the file at the same time.
    ...(worker !== undefined && { withFileLock: (work) => worker.withFileLock(path, work) }),
  };
  // Another program may write such an account at any time. It must not keep the others from their files, at the start
  // as little as later.
  const fromFile = createWatchedAccountsFile(options, (accounts) =>
    logUnusableAccounts(path, toSettingsByName(accounts), groups, logger),
  );
  return { ...fromFile, start: () => startWithProblems(fromFile, `authentication[${index}].file`, context) };
}

/** Starts the method. Its problems are reported like problems of the configuration. */
async function startWithProblems(authenticator: Authenticator, key: string, context: ConfigContext): Promise<void> {
  try {
    await authenticator.start?.();
  } catch (error) {
    addProblem(context, key, toOneLine((error as Error).message));
    throw toConfigFailure(context);
  }
}

/**
 * Makes an authenticator that another one of the same kind can replace while it is in use. `toReplacement` throws
 * `TypeError` if the first one has no API keys and the next one has: the service then has no URLs for them.
 */
function toReplaceable(first: Authenticator): {
  readonly current: Authenticator;
  toReplacement(next: Authenticator): () => void;
} {
  let used = first;
  // The service holds this object, so it must find the keys that are used now.
  const keys: AccountKeys = {
    find: async (id) => used.keys?.find(id),
    list: async (username) => used.keys?.list(username),
  };
  const current = new Proxy(first, {
    get: (_first, name) => (name === "keys" ? first.keys && keys : Reflect.get(used, name)),
  });

  function toReplacement(next: Authenticator): () => void {
    if (first.keys === undefined && next.keys !== undefined) throw new TypeError("the first API keys need a restart");
    return () => {
      used = next;
    };
  }

  return { current, toReplacement };
}
