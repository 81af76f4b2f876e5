import { type Account, createAccountResolver, type Groups } from "../account/account.ts";
import { type AccountFiles, createAccountFiles } from "../account/files.ts";
import { prepareHome } from "../account/home.ts";
import { type LimitOptions, toMaxFileBytes } from "../config/limits.ts";
import { toGroups } from "../config/service-config.ts";
import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { StorageAdapter, StorageEntry } from "../contracts/storage-adapter.ts";
import { HttpError } from "../http/http-error.ts";
import { isMemberName } from "../http/path-segment.ts";
import { accountSettingsSchema } from "../schemas/account.ts";

/** What accounts are opened on. */
export interface AccountOpenerOptions {
  /** Where the files are. */
  readonly storage: StorageAdapter;
  /** The groups of accounts by their identifier, as those of `createFileService`. Default: a `DEFAULT_GROUP` with its defaults. */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
  /** The limits of the service: of those, what one file may hold. Default: none. */
  readonly limits?: Pick<LimitOptions, "maxFileBytes">;
}

/**
 * Opens the files of an account whose credentials an authenticator has accepted, with the settings of that verdict.
 *
 * Rejects with HttpError `denied`, its `cause` for the log alone, when the settings are not what {@link AccountSettings} allows, or the
 * account cannot be used as it is configured: an unknown group, a home folder that is missing and not to be made; with
 * StorageError `unavailable` or `no-space` when the storage fails.
 */
export type OpenAccount = (username: string, settings: AccountSettings) => Promise<AccountFiles>;

/**
 * Makes the way from accepted credentials to files for a host of another protocol than HTTP, an SFTP server for one: the settings are
 * completed from the account's groups, its home folder is made ready, and what it may see and touch is decided as over HTTP, on
 * the same paths. A path is the list of its names, none for the account's root; one that holds what is no name (empty,
 * `.`, `..`, or with `/`, `\` or control characters) is refused with HttpError `malformed`.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function createAccountOpener(options: AccountOpenerOptions): OpenAccount {
  if (typeof options !== "object" || options === null) throw new TypeError("createAccountOpener needs options.");
  const { storage, groups = {}, limits = {} } = options;
  checkOption(typeof storage?.list === "function", "storage", "a storage adapter");
  const accounts = createAccountAdmission(storage, toGroups(groups), toMaxFileBytes(limits));
  return async (username, settings) => {
    const account = accounts.resolve(username, toCheckedSettings(settings));
    await accounts.prepare(account);
    return withNamesChecked(accounts.filesOf(account));
  };
}

/** The accounts of a storage: what a service and an opener have in common. */
export interface AccountAdmission {
  /** Completes settings that were checked before, by the authenticator's login or a session's. @throws HttpError `denied`, with its cause. */
  resolve(username: string, settings: AccountSettings): Account;
  /** Makes an account's home ready. Rejects as {@link OpenAccount}. */
  prepare(account: Account): Promise<void>;
  /** What an account may see and touch. */
  filesOf(account: Account): AccountFiles;
}

/** Makes the admission of accounts to a storage; `maxFileBytes` is what one file may hold at most, 0 for any number. */
export function createAccountAdmission(
  storage: StorageAdapter,
  groups: Groups,
  maxFileBytes: number,
): AccountAdmission {
  return {
    resolve: createAccountResolver(groups, maxFileBytes),
    prepare: (account) => prepareHome(account, storage),
    filesOf: (account) => createAccountFiles(account, storage),
  };
}

/** A member that is ignored could be one that forbids something: settings are closed (2.4). */
function toCheckedSettings(settings: AccountSettings): AccountSettings {
  const parsed = accountSettingsSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new HttpError("denied", "The account cannot be used.", {}, { cause: parsed.error });
}

/** Over HTTP the one parser of paths has checked names; other hosts have parsers of their own. */
function withNamesChecked(files: AccountFiles): AccountFiles {
  function checked(segments: readonly string[]): readonly string[] {
    if (segments.every(isMemberName)) return segments;
    throw new HttpError("malformed", "The path contains an invalid name.");
  }

  async function* listBatches(segments: readonly string[]): AsyncGenerator<readonly StorageEntry[]> {
    yield* toBatches(files.list(checked(segments)));
  }

  return {
    realPathOf: (segments) => files.realPathOf(checked(segments)),
    kindOf: async (segments) => files.kindOf(checked(segments)),
    stat: async (segments, operation) => files.stat(checked(segments), operation),
    list: (segments) => toMembers(() => listBatches(segments)),
    read: async (segments, range) => files.read(checked(segments), range),
    write: async (segments, content, options) => files.write(checked(segments), content, options),
    createFolder: async (segments) => files.createFolder(checked(segments)),
    createFolderIfMissing: async (segments) => files.createFolderIfMissing(checked(segments)),
    remove: async (segments, kind, removal) => files.remove(checked(segments), kind, removal),
  };
}
