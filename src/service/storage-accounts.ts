import { type Account, createAccountResolver, type Groups } from "../account/account.ts";
import { type AccountFilesOptions, createAccountFiles } from "../account/create-files.ts";
import type { AccountFiles } from "../account/files.ts";
import { prepareHome } from "../account/home.ts";
import { isRestricted, keyPathOf, toKeyAccount } from "../account/keys/key-account.ts";
import { withKeyPath } from "../account/keys/key-files.ts";
import { type LinkRights, toLinkAccount } from "../account/links/link-account.ts";
import { withLinkRights } from "../account/links/link-files.ts";
import { type LockedFilesOptions, NO_ACCOUNT_LOCKS, withLocks } from "../account/locks/locked-files.ts";
import { createLocks, type Locks, type LocksOptions } from "../account/locks/locks.ts";
import { createOwnedUploads, type OwnedUploads } from "../account/uploads/owned-uploads.ts";
import { toRealSegments } from "../account/virtual-folders.ts";
import type { WebdavConfig } from "../config/webdav.ts";
import type { AccountSettings } from "../contracts/account.ts";
import { foldName } from "../contracts/account-name.ts";
import type { ApiKey } from "../contracts/api-keys.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import { createFairQueue } from "../platform/fair-queue.ts";
import { createKeyedLimit } from "../platform/keyed-limit.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { accountSettingsSchema } from "../schemas/account.ts";
import { createMemoryKeyValueStore } from "../stores/memory.ts";

/** How many folders of an account are copied at a time, and how many are moved: the others wait. */
const MAX_FOLDERS_PER_VERB = 4;

/** The files of a link. */
export interface OpenedLinkFiles {
  readonly account: Account;
  readonly files: AccountFiles;
  /** What is there, and locked, although the link may not show it. */
  readonly inside: Pick<AccountFiles, "kindOf" | "requireUnlocked">;
}

/** Whether changes are made. In a `dry-run` they are only checked. Default: `real`. */
export type FilesMode = "real" | "dry-run";

/** What the service and `createAccountOpener` do with the accounts of a storage. */
export interface StorageAccounts {
  /**
   * Completes settings that were already checked: by the login, or when the session started.
   * @throws HttpError `denied`, with its cause, if the account cannot be used.
   */
  resolve(username: string, settings: AccountSettings): Account;
  /** Prepares the home folder of an account. Rejects as `OpenAccount` does. */
  prepare(account: Account): Promise<void>;
  /** The files that an account may see and change. */
  filesOf(account: Account, mode?: FilesMode): AccountFiles;
  /** The files of the account without a login, which has neither a trash nor versions. */
  openAnonymous(account: Account, mode?: FilesMode): AccountFiles;
  /** The account and the files of a request with an API key: what the account and the key both permit. */
  openByKey(
    account: Account,
    key: ApiKey,
    mode?: FilesMode,
  ): { readonly account: Account; readonly files: AccountFiles };
  /** The account and the files of a link: what both permit, below the link's root. */
  openLink(account: Account, rights: LinkRights, mode?: FilesMode): OpenedLinkFiles;
  /** The uploads of all accounts. Absent: the storage has none. */
  readonly uploads?: OwnedUploads;
}

/** The name by which visitors without an account have locks. */
const ANONYMOUS_LOCK_HOLDER = "visitor:anonymous";

/** The name by which a link has locks. */
function toLockHolder({ id, isFree }: LinkRights): string {
  return `${isFree ? "free-link" : "link"}:${id}`;
}

/** The ID of a link in the store that has locks by a name; `undefined` for accounts and other links. */
export function toLinkId(lockHolder: string): string | undefined {
  return /^link:([0-9a-f]{32})$/.exec(lockHolder)?.[1];
}

/** The locks of a service; `undefined` without the option `webdav`. `hasLocks`: as in `LocksOptions`. */
export function toLocks(
  webdav: WebdavConfig | undefined,
  clock: () => number,
  hasLocks?: LocksOptions["hasLocks"],
): Locks | undefined {
  if (webdav === undefined) return undefined;
  const { lockStore = createMemoryKeyValueStore({ clock }), locksPerAccount } = webdav;
  return createLocks({ store: lockStore, clock, maxPerAccount: locksPerAccount, ...(hasLocks && { hasLocks }) });
}

/** What the accounts of a storage have in addition. Without `locks` nothing can be locked. */
export interface StorageAccountsOptions {
  readonly locks?: Locks | undefined;
  readonly trash?: Trash | undefined;
  readonly versions?: Versions | undefined;
}

/**
 * Returns a function that narrows an account to what a key or a link may do. For the same key or link and account it
 * returns the same object, so that its files are created once.
 */
function createNarrowedAccounts<Grant extends object>(
  narrow: (owner: Account, grant: Grant) => Account,
): (owner: Account, grant: Grant) => Account {
  const narrowed = new WeakMap<Grant, { readonly owner: Account; readonly account: Account }>();
  return (owner, grant) => {
    const known = narrowed.get(grant);
    if (known?.owner === owner) return known.account;
    const account = narrow(owner, grant);
    narrowed.set(grant, { owner, account });
    return account;
  };
}

/** Creates the accounts of a storage. `maxFileBytes` limits the size of one file; 0 means no limit. */
export function createStorageAccounts(
  storage: StorageAdapter,
  groups: Groups,
  maxFileBytes: number,
  { locks, trash, versions }: StorageAccountsOptions = {},
): StorageAccounts {
  const scheduling = {
    queue: createFairQueue(),
    withWalkLock: createRequestMutex(),
    limitCopiesAndMoves: createKeyedLimit(MAX_FOLDERS_PER_VERB),
  };
  /** Created once for each account and not for each request. */
  const unlocked = new WeakMap<Account, AccountFiles>();
  const keyAccountOf = createNarrowedAccounts(toKeyAccount);
  const linkAccountOf = createNarrowedAccounts(toLinkAccount);

  function filesWithoutLocksOf(account: Account, mode: FilesMode, own: AccountFilesOptions): AccountFiles {
    const known = mode === "real" ? unlocked.get(account) : undefined;
    if (known !== undefined) return known;
    const isDryRun = mode === "dry-run";
    const options = { isDryRun, ...own };
    const files = { ...createAccountFiles(account, storage, scheduling, options), ...NO_ACCOUNT_LOCKS };
    if (!isDryRun) unlocked.set(account, files);
    return files;
  }

  /** Adds locks to an account's files. `holder`: the account that makes the locks, and when these end at the latest. */
  function withOwnLocks(
    account: Account,
    files: AccountFiles,
    holder: Pick<LockedFilesOptions, "account" | "until">,
    mode: FilesMode,
  ): AccountFiles {
    if (locks === undefined) return files;
    const toReal = (path: readonly string[]): readonly string[] => toRealSegments(account, path);
    const own = mode === "real" ? locks : { ...locks, end: async () => undefined };
    return withLocks(files, { locks: own, ...holder, toReal, virtualFolders: account.virtualFolders });
  }

  return {
    resolve: createAccountResolver(groups, maxFileBytes),
    prepare: (account) => prepareHome(account, storage),
    ...(storage.uploads && { uploads: createOwnedUploads(storage.uploads) }),
    filesOf(account, mode = "real") {
      const holder = { account: foldName(account.name) };
      return withOwnLocks(account, filesWithoutLocksOf(account, mode, { trash, versions }), holder, mode);
    },
    openAnonymous(account, mode = "real") {
      return withOwnLocks(account, filesWithoutLocksOf(account, mode, {}), { account: ANONYMOUS_LOCK_HOLDER }, mode);
    },
    openByKey(owner, key, mode = "real") {
      const account = keyAccountOf(owner, key);
      const own = filesWithoutLocksOf(account, mode, {
        trash,
        versions,
        ...(isRestricted(key) && { uploadKey: key.id }),
      });
      const files = withOwnLocks(account, own, { account: foldName(account.name) }, mode);
      return { account, files: withKeyPath(files, keyPathOf(key)) };
    },
    openLink(owner, rights, mode = "real") {
      const account = linkAccountOf(owner, rights);
      const holder = { account: toLockHolder(rights), until: 1000 * rights.expires };
      const own = filesWithoutLocksOf(account, mode, { uploadOwner: `link:${rights.id}` });
      const files = withOwnLocks(account, own, holder, mode);
      return { account, files: withLinkRights(files, rights), inside: files };
    },
  };
}

/** Rejects unknown settings, because an ignored one could be one that forbids something (2.4). */
export function toCheckedSettings(settings: AccountSettings): AccountSettings {
  const parsed = accountSettingsSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw createError("account-unusable", { cause: parsed.error });
}
