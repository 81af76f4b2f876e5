import type { AccountFiles } from "../account/files.ts";
import { toGroups } from "../config/groups.ts";
import { type LimitOptions, toMaxFileBytes } from "../config/limits.ts";
import { toWebdav, type WebdavOptions } from "../config/webdav.ts";
import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { ListOptions, StorageAdapter, StorageEntry } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import { isMemberName } from "../http/path-segment.ts";
import type { Urgency } from "../platform/fair-queue.ts";
import { createStorageAccounts, toCheckedSettings, toLocks } from "./storage-accounts.ts";

/** Options of {@link createAccountOpener}. */
export interface AccountOpenerOptions {
  /** The storage of the files. */
  readonly storage: StorageAdapter;
  /** The groups of accounts by identifier, as for `createFileService`. Default: a `DEFAULT_GROUP` with its defaults. */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
  /** The limits of the service, of which only `maxFileBytes` is used. Default: none. */
  readonly limits?: Pick<LimitOptions, "maxFileBytes">;
  /**
   * Where the service on the same files keeps the locks of WebDAV clients: changes are refused while a client has a
   * lock. It must be the service's own store. Default: there are no locks.
   */
  readonly webdav?: Required<Pick<WebdavOptions, "lockStore">>;
}

/**
 * Opens the files of an account after an authenticator has accepted its credentials, with the settings of that verdict.
 *
 * Rejects with HttpError `denied` if the settings are not what {@link AccountSettings} allows, or if the account cannot
 * be used as it is configured: its group is unknown, or its home folder is missing and must not be created. The error's
 * `cause` is for the log only. Rejects with StorageError `unavailable` or `no-space` if the storage fails.
 */
export type OpenAccount = (username: string, settings: AccountSettings) => Promise<AccountFiles>;

/**
 * Makes a function that leads from accepted credentials to files, for servers of another protocol than HTTP, such as
 * SFTP. It completes the settings from the account's group and prepares the home folder. Permissions apply as over
 * HTTP, on the same paths.
 *
 * A path is the list of its names; the empty list is the account's root. A path with an invalid name (empty, `.`, `..`,
 * or with `/`, `\` or control characters) is rejected with HttpError `malformed`.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function createAccountOpener(options: AccountOpenerOptions): OpenAccount {
  if (typeof options !== "object" || options === null) throw new TypeError("createAccountOpener needs options.");
  const { storage, groups = {}, limits = {}, webdav } = options;
  checkOption(typeof storage?.list === "function", "storage", "a storage adapter");
  const locks = toLocks(toWebdav(webdav), Date.now);
  const accounts = createStorageAccounts(storage, toGroups(groups), toMaxFileBytes(limits), { locks });
  return async (username, settings) => {
    const account = accounts.resolve(username, toCheckedSettings(settings));
    await accounts.prepare(account);
    return withNamesChecked(accounts.filesOf(account));
  };
}

/** Checks the names of every path. Over HTTP the parser of URLs does this; other servers have parsers of their own. */
function withNamesChecked(files: AccountFiles): AccountFiles {
  function checked(segments: readonly string[]): readonly string[] {
    if (segments.every(isMemberName)) return segments;
    throw createError("path-invalid");
  }

  async function* listBatches(
    segments: readonly string[],
    options: ListOptions | undefined,
    urgency: Urgency | undefined,
  ): AsyncGenerator<readonly StorageEntry[]> {
    yield* toBatches(files.list(checked(segments), options, urgency));
  }

  const { listingTag } = files;

  return {
    mayRead: async (segments) => files.mayRead(checked(segments)),
    realPathOf: (segments) => files.realPathOf(checked(segments)),
    kindOf: async (segments) => files.kindOf(checked(segments)),
    isTaken: async (segments) => files.isTaken(checked(segments)),
    stat: async (segments, operation) => files.stat(checked(segments), operation),
    list: (segments, options, urgency) => toMembers(() => listBatches(segments, options, urgency)),
    checkListing: async (segments) => files.checkListing(checked(segments)),
    listedKinds: async (segments) => files.listedKinds(checked(segments)),
    ...(listingTag && { listingTag: async (segments: readonly string[]) => listingTag(checked(segments)) }),
    read: async (segments, range) => files.read(checked(segments), range),
    locateContent: async (segments) => files.locateContent(checked(segments)),
    write: async (segments, content, options) => files.write(checked(segments), content, options),
    createFolder: async (segments) => files.createFolder(checked(segments)),
    createFolderIfMissing: async (segments) => files.createFolderIfMissing(checked(segments)),
    remove: async (segments, kind, removal) => files.remove(checked(segments), kind, removal),
    may: async (segments, operation) => files.may(checked(segments), operation),
    inspect: async (segments) => files.inspect(checked(segments)),
    properties: async (segments) => files.properties(checked(segments)),
    setAttributes: async (segments, changes) => files.setAttributes(checked(segments), changes),
    copy: async (from, to, options) => files.copy(checked(from), checked(to), options),
    move: async (from, to, options) => files.move(checked(from), checked(to), options),
    submitTokens: files.submitTokens,
    lock: async (segments, lock) => files.lock(checked(segments), lock),
    refreshLock: async (segments, token, seconds) => files.refreshLock(checked(segments), token, seconds),
    unlock: async (segments, token) => files.unlock(checked(segments), token),
    locksOf: async (segments) => files.locksOf(checked(segments)),
    locksOfMembers: async (folder) => files.locksOfMembers(checked(folder)),
    tokensOf: async (segments) => files.tokensOf(checked(segments)),
    requireUnlocked: async (segments) => files.requireUnlocked(checked(segments)),
  };
}
