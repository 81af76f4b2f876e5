import type { Operation } from "../contracts/account.ts";
import type { Trash, TrashEntry } from "../contracts/kept/trash.ts";
import type { QuotaLimit } from "../contracts/quota.ts";
import { hasCode, StorageError } from "../contracts/storage-adapter.ts";
import { isPrefix, toPathSegments } from "../contracts/storage-path.ts";
import { createError } from "../http/errors.ts";
import { mergeSorted } from "../platform/merge-sorted.ts";
import type { Account } from "./account.ts";
import { isReserved, toStoragePath } from "./path.ts";
import { type TreeAccess, toRemoval } from "./removal-check.ts";
import { createLocationError, isWayEntry, toRealPath, toRealSegments } from "./virtual-folders.ts";

/** An entry of the trash as an account sees it. */
export interface AccountTrashEntry extends Omit<TrashEntry, "path"> {
  /** Where it was, below the account's root. */
  readonly segments: readonly string[];
}

/**
 * The trash of an account: what was removed from a folder that the account may list now. A part of `AccountFiles`.
 * Entries are what `list` or `find` has returned. All methods throw the errors of the storage.
 */
export interface AccountTrash {
  /** Returns the entries, the newest first. */
  list(): AsyncIterable<AccountTrashEntry>;
  /**
   * Returns those of the entries that have some IDs, by their IDs. `from`: where they were, as far as the caller knows.
   * Such an entry is found without a walk through the trash.
   */
  find(
    ids: readonly string[],
    from?: ReadonlyMap<string, readonly string[]>,
  ): Promise<ReadonlyMap<string, AccountTrashEntry>>;
  /** Whether what is removed from a folder goes to the trash. */
  covers(folder: readonly string[]): boolean;
  /**
   * Restores an entry, at another path if one is given. The account needs `write` for a file, `create-folder` for a
   * folder, both for everything in it, and `create-folder` for each missing folder around it; for another path also
   * `read` and `list` for all of it where it was. Throws HttpError `already-exists` if there is anything at the path.
   */
  restore(entry: AccountTrashEntry, to?: readonly string[]): Promise<void>;
  /** Removes an entry for good. The account needs what the removal from its path would need. */
  purge(entry: AccountTrashEntry): Promise<void>;
}

/** Creates the trash of an account. `quota`: the limit of its home folder. */
export function createAccountTrash(
  account: Account,
  trash: Trash,
  { tree, permissions, allows, require, withWalkLock }: TreeAccess,
  quota: QuotaLimit,
): AccountTrash {
  /** The folders of the storage that the account shows, each in its place. Of two places the first one counts. */
  const places = [{ virtual: [], real: account.home }, ...account.virtualFolders];
  const roots = places.map(({ real }) => real);
  const tops = roots.filter(
    (real, index) => !roots.some((other, at) => isPrefix(other, real) && (other.length < real.length || at < index)),
  );

  /** Returns an entry with its path in the account, if the account may list the folder there. */
  async function toShown({ path, ...entry }: TrashEntry): Promise<AccountTrashEntry | undefined> {
    const real = toPathSegments(path);
    for (const place of places) {
      const segments = [...place.virtual, ...real.slice(place.real.length)];
      const isThere = isPrefix(place.real, real) && real.length > place.real.length && !isReserved(segments);
      const isShown = isThere && toRealPath(account, segments) === path;
      if (isShown && (await allows(segments.slice(0, -1), "list"))) return { ...entry, segments };
    }
    return undefined;
  }

  async function* list(): AsyncGenerator<AccountTrashEntry> {
    for await (const entry of mergeSorted(
      tops.map((top) => trash.list(toStoragePath(top))),
      newestFirst,
    )) {
      const shown = await toShown(entry);
      if (shown !== undefined) yield shown;
    }
  }

  async function find(...[ids, from]: Parameters<AccountTrash["find"]>): ReturnType<AccountTrash["find"]> {
    const found = new Map<string, AccountTrashEntry>();
    const paths = new Map(Array.from(from ?? [], ([id, segments]) => [id, toRealPath(account, segments)]));
    for (const top of tops) {
      for (const entry of await trash.find(toStoragePath(top), ids, paths)) {
        const shown = await toShown(entry);
        if (shown !== undefined) found.set(shown.id, shown);
      }
    }
    return found;
  }

  /** Checks an operation for an entry at a path, and for everything in it. */
  async function requireForAll(
    { id, kind }: AccountTrashEntry,
    path: readonly string[],
    toOperation: (isFolder: boolean) => Operation,
  ): Promise<void> {
    await require(path, toOperation(kind === "folder"));
    const isAllowed = [true, false].every((isFolder) => permissions.grantsEverywhere(toOperation(isFolder)));
    if (kind !== "folder" || isAllowed) return;
    await withWalkLock(async () => {
      for await (const member of trash.members(id)) {
        await require([...path, ...member.segments], toOperation(member.kind === "folder"));
      }
    });
  }

  async function requireForParents(path: readonly string[]): Promise<void> {
    for (let length = path.length - 1; length > 0; length -= 1) {
      const folder = path.slice(0, length);
      const found = await tree.stat(toStoragePath(folder));
      if (found !== undefined && isWayEntry(found)) throw createLocationError("No storage is mounted at this folder.");
      if (found?.kind === "folder") return;
      if (found !== undefined) throw new StorageError("not-a-folder");
      await require(folder, "create-folder");
    }
  }

  async function restore(entry: AccountTrashEntry, to = entry.segments): Promise<void> {
    if (to.length === 0) throw createError("root-not-movable");
    if (isReserved(to)) throw createError("name-reserved");
    // As a copy would: elsewhere the account may have permissions that it does not have there.
    if (to !== entry.segments) await requireForAll(entry, entry.segments, toReading);
    await requireForAll(entry, to, toCreation);
    await requireForParents(to);
    if ((await tree.stat(toStoragePath(to))) !== undefined) throw createError("trash-path-taken");
    try {
      await trash.restore(entry.id, toStoragePath(toRealSegments(account, to)), { quota });
    } catch (error) {
      throw hasCode(error, "already-exists") ? createError("trash-path-taken") : error;
    }
  }

  async function purge(entry: AccountTrashEntry): Promise<void> {
    await requireForAll(entry, entry.segments, toRemoval);
    if (!(await trash.purge(entry.id))) throw new StorageError("not-found");
  }

  return { list, find, covers: (folder) => trash.covers?.(toRealPath(account, folder)) ?? true, restore, purge };
}

function newestFirst(one: TrashEntry, other: TrashEntry): number {
  return one.id > other.id ? -1 : 1;
}

function toReading(isFolder: boolean): Operation {
  return isFolder ? "list" : "read";
}

function toCreation(isFolder: boolean): Operation {
  return isFolder ? "create-folder" : "write";
}
