import { explainPermission } from "../../account/explain.ts";
import type { AccountSettings } from "../../contracts/account.ts";
import { OPERATIONS, type Operation } from "../../contracts/account.ts";
import { accountSettingsSchema } from "../../schemas/account.ts";
import { readAccountsFile } from "../config/accounts.ts";
import { describeIssues } from "../config/issues.ts";
import { readConfig, readParsedFile, toResolver } from "../config/read/config-file.ts";
import type { AuthenticationEntry } from "../config/schema.ts";
import { createFailure, describeSystemError } from "../failure.ts";

/** The flags of `explain <operation> <path>`. */
export interface ExplainFlags {
  readonly operation: string;
  readonly path: string;
  readonly account?: string;
  /** A configuration file with the groups, and with the account unless `settings` is given. */
  readonly config?: string;
  /** A JSON file of account settings (2.4). */
  readonly settings?: string;
}

/** Whether an operation is granted, and the lines that explain why. */
export interface ExplainedPermission {
  readonly granted: boolean;
  readonly lines: readonly string[];
}

/** Explains a permission (CONTRACT 7.4). Rejects with a failure of status 2 if a flag or a file is wrong. */
export async function explain(flags: ExplainFlags): Promise<ExplainedPermission> {
  const { operation, path } = flags;
  if (!isOperation(operation)) throw createFailure(2, [`error: the operation must be one of ${OPERATIONS.join(", ")}`]);
  const account = await findAccount(flags);
  const { granted, rule, value, missing } = explainAs(account, path, operation);
  return {
    granted,
    lines: [
      `${operation} ${path}: ${granted ? "granted" : "not granted"}`,
      rule === undefined ? "rule: none matches, so the general permissions apply" : `rule: ${rule}`,
      value === undefined ? `missing: one of ${missing.join(", ")}` : `decided by: ${value}`,
    ],
  };
}

type Account = Parameters<typeof explainPermission>[0];

async function findAccount({ account: username, config, settings }: ExplainFlags): Promise<Account> {
  if (settings !== undefined) {
    const given = await readSettings(settings);
    const { groups = {} } = config === undefined ? {} : await readConfig(config);
    return { username: username ?? "user", settings: given, groups };
  }
  if (config === undefined) throw createFailure(2, ["error: explain needs --config or --settings"]);
  if (username === undefined) throw createFailure(2, ["error: explain needs --account with --config"]);
  const { groups = {}, authentication } = await readConfig(config);
  const settingsOf = await findConfiguredAccount(username, authentication, config);
  if (settingsOf === undefined) throw createFailure(2, [`${config}: has no account with this name`]);
  return { username, settings: settingsOf, groups };
}

/**
 * Finds the settings of an account by name, in the configuration or in one of its accounts files. The first method that
 * has the account decides (CONTRACT 9.0). Rejects with a failure of status 2 if an accounts file is invalid.
 */
async function findConfiguredAccount(
  name: string,
  authentication: readonly AuthenticationEntry[],
  configFile: string,
): Promise<AccountSettings | undefined> {
  for (const [index, entry] of authentication.entries()) {
    // The accounts of an external method are unknown until it is asked.
    if (entry.type !== "accounts") continue;
    const { accounts = [], file } = entry;
    const own = accounts.find(({ username }) => username === name);
    if (own !== undefined) {
      const { username, password, ...settings } = own;
      return settings;
    }
    const found = file && (await readAccounts(toResolver(configFile)(file), index, configFile)).get(name);
    if (found) return found;
  }
  return undefined;
}

async function readAccounts(
  path: string,
  index: number,
  configFile: string,
): Promise<ReadonlyMap<string, AccountSettings>> {
  try {
    return await readAccountsFile(path);
  } catch (error) {
    const reason = `${path}: ${describeSystemError(error)}`;
    throw createFailure(2, [`${configFile}: authentication[${index}].file: ${reason}`]);
  }
}

async function readSettings(file: string): Promise<AccountSettings> {
  const parsed = accountSettingsSchema.safeParse(await readParsedFile(file));
  if (parsed.success) return parsed.data;
  throw createFailure(
    2,
    describeIssues(parsed.error).map((problem) => `${file}: ${problem}`),
  );
}

function explainAs(account: Account, path: string, operation: Operation): ReturnType<typeof explainPermission> {
  try {
    return explainPermission(account, path, operation);
  } catch (error) {
    throw createFailure(2, [`error: ${(error as Error).message}`]);
  }
}

function isOperation(text: string): text is Operation {
  return (OPERATIONS as readonly string[]).includes(text);
}
