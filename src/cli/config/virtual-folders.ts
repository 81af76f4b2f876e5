import { type Groups, toAccount, type VirtualFolder } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import type { AccountSettings } from "../../contracts/account.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { describeSystemError } from "../failure.ts";
import { readAccountsFile } from "./accounts.ts";
import type { ConfigContext } from "./context.ts";
import type { AuthenticationEntry } from "./schema.ts";

/** The number of folders that the start checks: each may be a request to a remote storage. */
const MAX_CHECKED = 100;

/**
 * Warns if the real folder of a configured virtual folder is missing, which may be a typing error, or cannot be read.
 * The accounts of external methods are unknown.
 */
export async function warnOfMissingFolders(
  methods: readonly AuthenticationEntry[],
  groups: Groups,
  storage: StorageAdapter,
  { logger, toPath }: Pick<ConfigContext, "logger" | "toPath">,
): Promise<void> {
  /** The first account that has a folder, by the folder's path. */
  const accountOf = new Map<string, string>();
  for (const method of methods) {
    for (const [username, settings] of await readAccounts(method, toPath)) {
      for (const { real } of virtualFoldersOf(username, settings, groups)) {
        const folder = toStoragePath(real);
        if (!accountOf.has(folder)) accountOf.set(folder, username);
      }
    }
  }
  for (const [folder, account] of [...accountOf].slice(0, MAX_CHECKED)) {
    try {
      if ((await storage.stat(folder))?.kind === "folder") continue;
      logger.warn({ folder, account }, "The real folder of a virtual folder is missing. The first upload creates it.");
    } catch (error) {
      // Only its requests fail. The message of the error has a path of the process.
      const reason = describeSystemError((error as Error).cause ?? error);
      logger.warn({ folder, account, reason }, "The real folder of a virtual folder cannot be read.");
    }
  }
}

async function readAccounts(
  method: AuthenticationEntry,
  toPath: ConfigContext["toPath"],
): Promise<Iterable<readonly [string, AccountSettings]>> {
  if (method.type !== "accounts") return [];
  const { accounts = [], file } = method;
  if (file === undefined) return accounts.map(({ username, password, ...settings }) => [username, settings] as const);
  try {
    return await readAccountsFile(toPath(file));
  } catch {
    // The method itself reports a file that is missing or invalid.
    return [];
  }
}

function virtualFoldersOf(username: string, settings: AccountSettings, groups: Groups): readonly VirtualFolder[] {
  try {
    return toAccount(username, settings, groups).virtualFolders;
  } catch {
    // The check of the configuration reports an account that can never log in.
    return [];
  }
}
