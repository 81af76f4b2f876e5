import type { Operation } from "../contracts/account.ts";
import { foldName } from "../contracts/account-name.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import {
  type ByteRange,
  isStorageError,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import type { FairQueue } from "../platform/fair-queue.ts";
import type { KeyedLimit } from "../platform/keyed-limit.ts";
import type { KeyedMutex } from "../platform/keyed-mutex.ts";
import type { Account } from "./account.ts";
import { createAccountTrash } from "./account-trash.ts";
import { createCopyAndMove } from "./copy-and-move.ts";
import { createFileAttributes } from "./file-attributes.ts";
import { limitContent } from "./file-size-limit.ts";
import { createFileVersions } from "./file-versions.ts";
import type { FileOperation, FilesWithoutLocks, RemovalKind } from "./files.ts";
import { checkFolder, findListedKinds, findListingTag, type ListingSource, listFolder } from "./folder-listings.ts";
import { withOwnLimit } from "./own-limit.ts";
import { isReserved, toStoragePath } from "./path.ts";
import { createRemovalCheck, type TreeAccess, toRemoval } from "./removal-check.ts";
import { toUploadOwner } from "./uploads/account-uploads.ts";
import { createAccountUploads } from "./uploads/create-uploads.ts";
import { mountAccount, toRealPath } from "./virtual-folders.ts";

/** How the accounts of a service share the time for work on folders. The keys are folded account names. */
export interface FolderScheduling {
  /** Runs the steps of listings, and long checks of permissions. */
  readonly queue: FairQueue;
  /** Limits each account to one check of a tree at a time, because a check holds members in memory. */
  readonly withWalkLock: KeyedMutex;
  /** Limits the copies of folders of an account, and the moves: each holds descriptors, and writes in parallel. */
  readonly limitCopiesAndMoves: KeyedLimit;
}

/** Options of {@link createAccountFiles}. */
export interface AccountFilesOptions {
  /** Who has its resumable uploads. Default: the account. */
  readonly uploadOwner?: string;
  /** The ID of the API key that has created the resumable uploads which are seen. Default: all of the owner are. */
  readonly uploadKey?: string;
  /** The trash of the service. Absent: the files have none. */
  readonly trash?: Trash | undefined;
  /** The versions of the service. Absent: the files have none. */
  readonly versions?: Versions | undefined;
}

/** Creates the files of an account in a storage, without locks. */
export function createAccountFiles(
  account: Account,
  serviceStorage: StorageAdapter,
  { queue, withWalkLock, limitCopiesAndMoves }: FolderScheduling,
  { uploadOwner = toUploadOwner(account.name), uploadKey, trash, versions }: AccountFilesOptions = {},
): FilesWithoutLocks {
  const { permissions, maxFileBytes, quota } = account;
  const storage = withOwnLimit(serviceStorage, quota);
  const queueKey = uploadOwner === toUploadOwner(account.name) ? foldName(account.name) : uploadOwner;
  const tree = mountAccount(account, storage);

  function allows(segments: readonly string[], operation: Operation): boolean {
    return permissions.allows(toStoragePath(segments), operation);
  }

  const realPathOf = (segments: readonly string[]): string => toRealPath(account, segments);

  async function find(segments: readonly string[]): Promise<StorageEntry | undefined> {
    return isReserved(segments) ? undefined : tree.stat(toStoragePath(segments));
  }

  async function kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined> {
    const kind = (await find(segments))?.kind;
    return kind === "link" ? undefined : kind;
  }

  /** As {@link allows}, but a long check goes through the queue. */
  async function allowsQueued(segments: readonly string[], operation: Operation): Promise<boolean> {
    if (!permissions.isPauseDue(toStoragePath(segments))) return allows(segments, operation);
    return queue.run(queueKey, "long", async () => allows(segments, operation));
  }

  const access: TreeAccess = {
    tree,
    permissions,
    allows: allowsQueued,
    require: requireGranted,
    withWalkLock: (check) => withWalkLock(queueKey, check),
    runStep: (step) => queue.run(queueKey, "long", step),
  };
  const removals = createRemovalCheck(access);
  const listings: ListingSource = { tree, allows: allowsQueued, refusalOf, queue, key: queueKey };

  async function requireFor(segments: readonly string[], operation: Operation): Promise<void> {
    if (isReserved(segments) && operation !== "read") throw createError("name-reserved");
    if (await allowsQueued(segments, operation)) return;
    if (isFileOperation(operation) && (await kindOf(segments)) === "folder") throw new StorageError("not-a-file");
    throw refusalOf(segments);
  }

  async function requireGranted(segments: readonly string[], operation: Operation): Promise<void> {
    if (!(await allowsQueued(segments, operation))) throw refusalOf(segments);
  }

  function refusalOf(segments: readonly string[]): HttpError {
    return createError(permissions.isTooLong(toStoragePath(segments)) ? "path-too-long" : "denied");
  }

  async function stat(
    segments: readonly string[],
    operation: FileOperation | "delete-folder",
  ): Promise<StorageEntry | undefined> {
    await requireFor(segments, operation);
    const entry = await find(segments);
    const isForFile = isFileOperation(operation);
    if (isForFile && entry?.kind === "folder") throw new StorageError("not-a-file");
    return entry?.kind === (isForFile ? "file" : "folder") ? entry : undefined;
  }

  async function read(segments: readonly string[], range?: ByteRange): Promise<StoredFile> {
    await requireFor(segments, "read");
    if (isReserved(segments)) throw new StorageError("not-found");
    return tree.read(toStoragePath(segments), range);
  }

  async function write(
    segments: readonly string[],
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    await requireFor(segments, "write");
    const limited = limitContent(content, maxFileBytes, options?.size);
    return tree.write(toStoragePath(segments), limited, { owner: foldName(account.name), ...options });
  }

  async function createFolder(segments: readonly string[]): Promise<void> {
    await requireFor(segments, "create-folder");
    await tree.createFolder(toStoragePath(segments));
  }

  async function createFolderIfMissing(segments: readonly string[]): Promise<boolean> {
    try {
      await createFolder(segments);
      return true;
    } catch (error) {
      if (!isStorageError(error) || (await kindOf(segments)) !== "folder") throw error;
      return false;
    }
  }

  async function remove(
    segments: readonly string[],
    kind: RemovalKind,
    { ifMatch, ...options }: Omit<RemoveOptions, "kind"> = {},
  ): Promise<void> {
    if (segments.length === 0) throw createError("root-not-removable");
    const found = await find(segments);
    const wantsFolder = kind === "folder" || kind === "empty-folder";
    const isFolder = found === undefined ? wantsFolder : found.kind === "folder";
    await requireFor(segments, toRemoval(isFolder));
    if (found === undefined || (kind !== "any" && wantsFolder !== isFolder)) throw new StorageError("not-found");
    if (isFolder && ifMatch !== undefined) throw new StorageError("precondition-failed");
    if (kind === "empty-folder") await removals.requireEmpty(segments);
    else await removals.requireForMembers(segments, found);
    // The kind is passed on: if another kind of member replaces this one now, it needs another permission and must
    // stay.
    const conditions = isFolder
      ? ({ kind: "folder" } as const)
      : ({ kind: "file", ...(ifMatch && { ifMatch }) } as const);
    await tree.remove(toStoragePath(segments), { ...options, ...conditions });
  }

  async function mayRead(segments: readonly string[]): Promise<boolean> {
    if (permissions.grantsEverywhere("read")) return true;
    return allowsQueued(segments, "read");
  }

  return {
    ...createCopyAndMove(access, removals, account, (verb, task, signal) =>
      limitCopiesAndMoves(`${verb} ${queueKey}`, task, signal),
    ),
    ...createFileAttributes(access),
    realPathOf,
    mayRead,
    isTaken: async (segments) => (await find(segments)) !== undefined,
    kindOf,
    stat,
    list: (segments, options, urgency) => listFolder(listings, segments, options, urgency),
    checkListing: (segments) => checkFolder(listings, segments),
    listedKinds: (segments) => findListedKinds(listings, segments),
    ...(tree.listingTag && { listingTag: (segments: readonly string[]) => findListingTag(listings, segments) }),
    read,
    locateContent: async (segments) => serviceStorage.locateContent?.(realPathOf(segments)),
    write,
    createFolder,
    createFolderIfMissing,
    remove,
    ...(trash && { trash: createAccountTrash(account, trash, access, quota) }),
    ...(versions && { versions: createFileVersions(account, versions, access) }),
    ...(storage.uploads &&
      tree.uploads && {
        uploads: createAccountUploads({
          account,
          owner: uploadOwner,
          apiKey: uploadKey,
          storage: storage.uploads,
          tree: tree.uploads,
          realPathOf,
          kindOf,
          requireFor,
        }),
      }),
  };
}

function isFileOperation(operation: Operation): operation is FileOperation {
  return operation === "read" || operation === "write" || operation === "delete-file";
}
