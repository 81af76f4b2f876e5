import type { Operation } from "../contracts/account.ts";
import type { StorageAdapter, StorageEntry } from "../contracts/storage-adapter.ts";
import { toUnfollowed } from "../contracts/storage-entry.ts";
import { createError } from "../http/errors.ts";
import { readFirst } from "./folder-listings.ts";
import { walkFolder } from "./folder-walk.ts";
import { toStoragePath } from "./path.ts";
import type { Permissions } from "./permissions.ts";

/** What the check of a tree needs. */
export interface TreeAccess {
  /** The storage as the account sees it. */
  readonly tree: StorageAdapter;
  readonly permissions: Permissions;
  /** Returns whether an operation is granted at a path. */
  allows(segments: readonly string[], operation: Operation): Promise<boolean>;
  /** Throws unless an operation is granted at a path. */
  require(segments: readonly string[], operation: Operation): Promise<void>;
  /** Runs the check of a tree. An account has one at a time, because a check holds members in memory. */
  withWalkLock(check: () => Promise<void>): Promise<void>;
  /** Runs one step of a check, such as that of a listing. */
  runStep<T>(step: () => Promise<T>): Promise<T>;
}

/** Checks of what a removal or a replacement removes. */
export interface RemovalCheck {
  /** Throws if a folder has members. Counts also those that the account may not see. */
  requireEmpty(folder: readonly string[]): Promise<void>;
  /**
   * Throws if any member of a folder may not be removed: then the complete tree stays (CONTRACT 4.4). What a link leads
   * to always stays.
   */
  requireForMembers(segments: readonly string[], entry: StorageEntry): Promise<void>;
  /** Throws if a file or link, or a folder or anything in it, may not be removed. */
  requireForAll(segments: readonly string[], entry: StorageEntry): Promise<void>;
}

/** Creates the checks of an account's removals. */
export function createRemovalCheck({ tree, permissions, require, withWalkLock, runStep }: TreeAccess): RemovalCheck {
  async function requireEmpty(folder: readonly string[]): Promise<void> {
    const first = await runStep(() => readFirst(tree.list(toStoragePath(folder))));
    if (first !== undefined) throw createError("folder-not-empty");
  }

  async function requireForMembers(folder: readonly string[], entry: StorageEntry): Promise<void> {
    if (toUnfollowed(entry).kind !== "folder") return;
    if (permissions.grantsEverywhere("delete-file") && permissions.grantsEverywhere("delete-folder")) return;
    await withWalkLock(async () => {
      for await (const { segments, kind } of walkFolder(tree, folder, runStep)) {
        await require(segments, toRemoval(kind === "folder"));
      }
    });
  }

  async function requireForAll(segments: readonly string[], entry: StorageEntry): Promise<void> {
    await require(segments, toRemoval(entry.kind === "folder"));
    await requireForMembers(segments, entry);
  }

  return { requireEmpty, requireForMembers, requireForAll };
}

/** The operation that removes a file, a symlink or a folder. */
export function toRemoval(isFolder: boolean): "delete-file" | "delete-folder" {
  return isFolder ? "delete-folder" : "delete-file";
}
