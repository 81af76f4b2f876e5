import type { Groups } from "../../account/account.ts";
import { createAccountsAuthenticator } from "../../auth/accounts/accounts.ts";
import { createAccountsFileAuthenticator } from "../../auth/accounts/accounts-file-node.ts";
import type { Authenticator } from "../../contracts/authenticator.ts";
import type { OnEvent } from "../../contracts/events/file-event.ts";
import { createHttpAuthenticator } from "../../remote-auth/http-authenticator.ts";
import { findAccountProblem, readAccountsFile } from "./accounts.ts";
import { addProblem, type ConfigContext, toConfigFailure, toOneLine } from "./context.ts";
import { toKeyPath } from "./issues.ts";
import type { AuthenticationEntry, ConfigFile } from "./schema.ts";

/** Creates the methods of `authentication`, in their order. `listeners` get their events. */
export function toMethods(
  config: ConfigFile,
  groups: Groups,
  context: ConfigContext,
  listeners: readonly OnEvent[],
): readonly Authenticator[] {
  return config.authentication.map((entry, index) =>
    entry.type === "http"
      ? toHttpAuthenticator(entry, config, context, listeners)
      : toAuthenticator(entry, index, groups, context),
  );
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
    return createAccountsAuthenticator({ accounts: entry.accounts ?? [], passwordHasher, logger });
  }
  const path = context.toPath(entry.file);
  const fromFile = createAccountsFileAuthenticator({
    file: path,
    passwordHasher,
    logger,
    // Changes by another process count immediately: else an old password would still log in, and a new one would not.
    ...(isShared && { recheckSeconds: 0 }),
    // Two workers must not write the file at the same time.
    ...(worker !== undefined && { withFileLock: (work) => worker.withFileLock(path, work) }),
  });
  return { ...fromFile, start };

  async function start(): Promise<void> {
    const key = `authentication[${index}].file`;
    await startFromFile(fromFile, key, context);
    await checkAccountsFile(path, groups, key, context);
  }
}

/** Stops the start if an account of the file could never log in, as for an account in the configuration. */
async function checkAccountsFile(path: string, groups: Groups, key: string, context: ConfigContext): Promise<void> {
  const accounts = [...(await readAccountsFile(path))];
  for (const [index, [username, settings]] of accounts.entries()) {
    const problem = findAccountProblem(username, settings, groups);
    if (problem === undefined) continue;
    addProblem(context, key, `${path}: ${toKeyPath(["accounts", index, ...problem.path])}: ${problem.reason}`);
  }
  if (context.problems.length > 0) throw toConfigFailure(context);
}

/** Starts the method. Problems of an accounts file are reported like problems of the configuration. */
async function startFromFile(authenticator: Authenticator, key: string, context: ConfigContext): Promise<void> {
  try {
    await authenticator.start?.();
  } catch (error) {
    addProblem(context, key, toOneLine((error as Error).message));
    throw toConfigFailure(context);
  }
}
