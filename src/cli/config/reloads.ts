import type { Groups } from "../../account/account.ts";
import { describeSystemError } from "../failure.ts";
import type { Reloads } from "../reload.ts";
import { findAccountProblem, logUnusableAccounts, readAccountsFile } from "./accounts.ts";
import { addProblem, type ConfigContext, toConfigFailure, toOneLine } from "./context.ts";
import { toKeyPath } from "./issues.ts";
import { readConfig } from "./read/config-file.ts";
import { findChangedSecrets, findRestartKeys, toShape } from "./restart-keys.ts";
import { type AuthenticationEntry, type ConfigFile, toGroupSettings } from "./schema.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { readTlsFiles } from "./tls.ts";

/**
 * What a running service reads again: certificates at the same paths, and accounts of the configuration. An accounts
 * file is read again by itself, so it is only checked.
 */
export function toReloads(
  config: ConfigFile,
  context: ConfigContext,
  tls: Pick<Reloads, "tlsFiles" | "tlsVersion">,
): Reloads {
  const { listen, groups, authentication } = config;
  const files = listen?.tls;
  const running = toGroupSettings(groups);
  let current = config;

  async function readTls(): Promise<ServeSettings["tls"]> {
    const own = { ...context, problems: [] };
    const tls = files && (await readTlsFiles(files, own));
    if (own.problems.length > 0) throw toConfigFailure(own);
    return tls;
  }

  /** Replaces the accounts of all methods, or of none. */
  async function readAccounts(): Promise<void> {
    const next = await readConfig(context.file);
    const isSameShape = toShape(next.authentication) === toShape(authentication);
    const secrets = isSameShape ? findChangedSecrets(authentication, next.authentication) : [];
    const keys = [...findRestartKeys(config, next), ...secrets];
    if (keys.length > 0) context.logger.warn({ keys }, "These keys have changed and need a restart.");
    const own = { ...context, problems: [] };
    if (!isSameShape) {
      addProblem(own, "authentication", "other methods, or another order of them, need a restart");
      throw toConfigFailure(own);
    }
    for (const [index, entry] of next.authentication.entries()) await checkAccountsFile(entry, index, own, running);
    const steps = next.authentication.map((entry, index) => toReplacement(entry, index, own, running));
    if (own.problems.length > 0) throw toConfigFailure(own);
    for (const replace of steps) replace?.();
    const methods = authentication.map((entry, index) => withAccountsOf(entry, next.authentication[index]));
    current = { ...config, authentication: methods };
  }

  return { ...tls, readTls, readAccounts, currentConfig: () => current };
}

/** A method with the accounts of another version of it. */
function withAccountsOf(entry: AuthenticationEntry, other: AuthenticationEntry | undefined): AuthenticationEntry {
  if (entry.type !== "accounts" || other?.type !== "accounts" || other.accounts === undefined) return entry;
  return { ...entry, accounts: other.accounts };
}

/**
 * Adds the problem of an accounts file that is not valid now: the service keeps the accounts that it has. Only logs
 * which of its accounts could never log in.
 */
async function checkAccountsFile(
  entry: AuthenticationEntry,
  index: number,
  context: ConfigContext,
  groups: Groups,
): Promise<void> {
  if (entry.type !== "accounts" || entry.file === undefined) return;
  const path = context.toPath(entry.file);
  try {
    logUnusableAccounts(path, await readAccountsFile(path), groups, context.logger);
  } catch (error) {
    addProblem(context, `authentication[${index}].file`, `${path}: ${toOneLine(describeSystemError(error))}`);
  }
}

/** Returns what replaces the accounts of a method, which must fit the groups that the service has. */
function toReplacement(
  entry: AuthenticationEntry,
  index: number,
  context: ConfigContext,
  groups: Groups,
): (() => void) | undefined {
  const reload = context.accountReloads.get(index);
  if (reload === undefined || entry.type !== "accounts" || entry.accounts === undefined) return undefined;
  const key = ["authentication", index, "accounts"];
  for (const [position, { username, password, ...settings }] of entry.accounts.entries()) {
    const problem = findAccountProblem(username, settings, groups);
    if (problem === undefined) continue;
    const reason = `${problem.reason} in the running service: other groups need a restart`;
    addProblem(context, toKeyPath([...key, position, ...problem.path]), reason);
  }
  try {
    return reload(entry.accounts);
  } catch (error) {
    addProblem(context, toKeyPath(key), (error as Error).message);
    return undefined;
  }
}
