import { type Account, createAccountResolver, type Groups } from "../account/account.ts";
import { type AccountFilesOptions, createAccountFiles } from "../account/create-files.ts";
import type { AccountFiles } from "../account/files.ts";
import { prepareHome } from "../account/home.ts";
import { isRestricted, keyPathOf, toKeyAccount } from "../account/keys/key-account.ts";
import { withKeyPath } from "../account/keys/key-files.ts";
import { type LinkRights, toLinkAccount } from "../account/links/link-account.ts";
import { withLinkRights } from "../account/links/link-files.ts";
import { NO_ACCOUNT_LOCKS } from "../account/locks/account-locks.ts";
import { type LockedFilesOptions, withLocks } from "../account/locks/locked-files.ts";
import { createLocks, type Locks, type LocksOptions } from "../account/locks/locks.ts";
import { createOwnedUploads, type OwnedUploads } from "../account/uploads/owned-uploads.ts";
import { toRealSegments } from "../account/virtual-folders.ts";
import type { WebdavConfig } from "../config/webdav.ts";
import type { AccountSettings } from "../contracts/account.ts";
import { toAccountIdentity } from "../contracts/account-name.ts";
import type { ApiKey } from "../contracts/api-keys.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import { createFairQueue } from "../platform/fair-queue.ts";
import { createKeyedLimit } from "../platform/keyed-limit.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { accountSettingsSchema } from "../schemas/account.ts";
import { createDryRun } from "../storage/dry-run.ts";
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

/** Opens the files of accounts, keys and links. */
export interface FilesOpener {
  /** The files that an account may see and change. */
  filesOf(account: Account): AccountFiles;
  /** The files of the account without a login, which has neither a trash nor versions. */
  openAnonymous(account: Account): AccountFiles;
  /** The account and the files of a request with an API key: what the account and the key both permit. */
  openByKey(account: Account, key: ApiKey): { readonly account: Account; readonly files: AccountFiles };
  /** The account and the files of a link: what both permit, below the link's root. */
  openLink(account: Account, rights: LinkRights): OpenedLinkFiles;
}

/** What the service and `createAccountOpener` do with the accounts of a storage. */
export interface StorageAccounts extends FilesOpener {
  /**
   * Completes settings that were already checked: by the login, or when the session started.
   * @throws HttpError `denied`, with its cause, if the account cannot be used.
   */
  resolve(username: string, settings: AccountSettings): Account;
  /** Prepares the home folder of an account. Rejects as `OpenAccount` does. */
  prepare(account: Account): Promise<void>;
  /** Opens files for one dry run: changes are checked, and only the dry run sees them. */
  forDryRun(): FilesOpener;
  /** The uploads of all accounts. Absent: the storage has none. */
  readonly uploads?: OwnedUploads;
}

/** The name by which visitors without an account have locks. */
const ANONYMOUS_LOCK_HOLDER = toLockHolder("visitor", "anonymous");

/**
 * A name by which someone without an account has locks. No identity of an account is such a name: without a `uuid` it
 * has no control character, and with one it has a line break.
 */
function toLockHolder(kind: "visitor" | "link" | "free-link", id: string): string {
  return `${kind}\0${id}`;
}

/** The ID of a link in the store that has locks by a name; `undefined` for accounts and other links. */
export function toLinkId(lockHolder: string): string | undefined {
  const [kind, id] = lockHolder.split("\0");
  return kind === "link" ? id : undefined;
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
  options: StorageAccountsOptions = {},
): StorageAccounts {
  const scheduling = {
    queue: createFairQueue(),
    withWalkLock: createRequestMutex(),
    limitCopiesAndMoves: createKeyedLimit(MAX_FOLDERS_PER_VERB),
  };
  const keyAccountOf = createNarrowedAccounts(toKeyAccount);
  const linkAccountOf = createNarrowedAccounts(toLinkAccount);

  function createOpener(used: StorageAdapter, { locks, trash, versions }: StorageAccountsOptions): FilesOpener {
    /** Created once for each account and not for each request. */
    const unlocked = new WeakMap<Account, AccountFiles>();

    /** Opens the files of an account. `holder`: the account that makes its locks, and when these end at the latest. */
    function open(
      account: Account,
      own: AccountFilesOptions,
      holder: Pick<LockedFilesOptions, "account" | "until">,
    ): AccountFiles {
      const known = unlocked.get(account);
      const files = known ?? { ...createAccountFiles(account, used, scheduling, own), ...NO_ACCOUNT_LOCKS };
      unlocked.set(account, files);
      if (locks === undefined) return files;
      const toReal = (path: readonly string[]): readonly string[] => toRealSegments(account, path);
      return withLocks(files, { locks, ...holder, toReal, virtualFolders: account.virtualFolders });
    }

    function openOwn(account: Account, own: AccountFilesOptions = {}): AccountFiles {
      return open(account, { trash, versions, ...own }, { account: toAccountIdentity(account) });
    }

    return {
      filesOf: openOwn,
      openAnonymous: (account) => open(account, {}, { account: ANONYMOUS_LOCK_HOLDER }),
      openByKey(owner, key) {
        const account = keyAccountOf(owner, key);
        const files = openOwn(account, isRestricted(key) ? { uploadKey: key.id } : {});
        return { account, files: withKeyPath(files, keyPathOf(key)) };
      },
      openLink(owner, rights) {
        const account = linkAccountOf(owner, rights);
        const holder = {
          account: toLockHolder(rights.isFree ? "free-link" : "link", rights.id),
          until: 1000 * rights.expires,
        };
        const files = open(account, { uploadOwner: `link:${rights.id}` }, holder);
        return { account, files: withLinkRights(files, rights), inside: files };
      },
    };
  }

  function forDryRun(): FilesOpener {
    const { locks, trash, versions } = options;
    const dry = createDryRun();
    return createOpener(dry.storage(storage), {
      locks: locks && { ...locks, end: async () => undefined },
      trash: trash && dry.trash(trash),
      versions: versions && dry.versions(versions),
    });
  }

  return {
    resolve: createAccountResolver(groups, maxFileBytes),
    prepare: (account) => prepareHome(account, storage),
    ...(storage.uploads && { uploads: createOwnedUploads(storage.uploads) }),
    ...createOpener(storage, options),
    forDryRun,
  };
}

/** Rejects unknown settings, because an ignored one could be one that forbids something (2.4). */
export function toCheckedSettings(settings: AccountSettings): AccountSettings {
  const parsed = accountSettingsSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw createError("account-unusable", { cause: parsed.error });
}
