import type { Groups } from "../../account/account.ts";
import type { Reloads } from "../reload.ts";
import { findAccountProblem } from "./accounts.ts";
import { addProblem, type ConfigContext, toConfigFailure } from "./context.ts";
import { toKeyPath } from "./issues.ts";
import { readConfig } from "./read/config-file.ts";
import { isSecretKey } from "./read/secrets.ts";
import { type AuthenticationEntry, type ConfigFile, toGroupSettings } from "./schema.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { readTlsFiles } from "./tls.ts";

/** What a running service reads again: certificates at the same paths, and accounts of the configuration. */
export function toReloads({ listen, groups, authentication }: ConfigFile, context: ConfigContext): Reloads {
  const files = listen?.tls;
  async function readTls(): Promise<ServeSettings["tls"]> {
    const own = { ...context, problems: [] };
    const tls = files && (await readTlsFiles(files, own));
    if (own.problems.length > 0) throw toConfigFailure(own);
    return tls;
  }

  /** Replaces the accounts of all methods, or of none. */
  async function readAccounts(): Promise<void> {
    const next = await readConfig(context.file);
    const own = { ...context, problems: [] };
    if (toShape(next.authentication) !== toShape(authentication)) {
      addProblem(own, "authentication", "other methods, or another order of them, need a restart");
      throw toConfigFailure(own);
    }
    const steps = next.authentication.map((entry, index) => toReplacement(entry, index, own, toGroupSettings(groups)));
    if (own.problems.length > 0) throw toConfigFailure(own);
    for (const replace of steps) replace?.();
    const [former, current] = [authentication, next.authentication].map(withoutAccounts);
    const keys = findChangedSecrets(former ?? [], current ?? [], ["authentication"]);
    if (keys.length > 0) context.logger.warn({ keys }, "These secrets have changed, which needs a restart.");
  }

  const tlsFiles = files === undefined ? [] : Object.values(files).map(context.toPath);
  return { tlsFiles, readTls, readAccounts };
}

/** The methods without their accounts, which may change while the service runs. */
function withoutAccounts(methods: readonly AuthenticationEntry[]): readonly object[] {
  return methods.map((entry) => ("accounts" in entry ? { ...entry, accounts: [] } : entry));
}

/** The methods without accounts and secrets: a secret may be rotated without a change of the configuration. */
function toShape(methods: readonly AuthenticationEntry[]): string {
  return JSON.stringify(withoutAccounts(methods), (key, value) => (isSecretKey(key, false) ? null : value));
}

/** The keys of secrets that differ between two values of one shape. */
function findChangedSecrets(former: object, next: object, path: readonly (string | number)[]): readonly string[] {
  return Object.entries(next).flatMap(([key, value]: [string, unknown]) => {
    const before = (former as Readonly<Record<string, unknown>>)[key];
    const own = [...path, Array.isArray(next) ? Number(key) : key];
    if (isSecretKey(key, false)) return JSON.stringify(before) === JSON.stringify(value) ? [] : [toKeyPath(own)];
    return value instanceof Object ? findChangedSecrets(before as object, value, own) : [];
  });
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
