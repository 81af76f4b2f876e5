import type { StorageEntry, WriteOptions } from "../../contracts/storage-adapter.ts";
import { watchSteps } from "../../contracts/watch-steps.ts";
import { createError } from "../../http/errors.ts";
import type { VirtualFolder } from "../account.ts";
import type { AccountFiles, UnlockedFiles } from "../files.ts";
import type { Operation } from "../permissions.ts";
import { type AccountLocks, createAccountLocks } from "./account-locks.ts";
import { type LockHolder, type PathChange, requireUnlocked } from "./lock-guard.ts";

/** What the locks of an account's files need. */
export interface LockedFilesOptions extends Omit<LockHolder, "submitted"> {
  readonly virtualFolders: readonly VirtualFolder[];
}

/**
 * Adds locks to an account's files: all changes obey them. A change that the account may not do anyway is refused for
 * that reason.
 */
export function withLocks(files: UnlockedFiles, options: LockedFilesOptions): AccountFiles {
  const { locks, toReal, virtualFolders } = options;
  const holder = { ...options, submitted: new Set<string>() };
  const { running } = locks;

  /** Does changes that all happen now, unless a lock forbids one. */
  async function change<T>(operation: Operation, changes: readonly PathChange[], act: () => Promise<T>): Promise<T> {
    return running.run(toRealPaths(changes), async () => {
      if (await mayAll(operation, changes)) await requireUnlocked(holder, changes);
      return act();
    });
  }

  async function mayAll(operation: Operation, changes: readonly PathChange[]): Promise<boolean> {
    for (const { path } of changes) if (!(await files.may(path, operation))) return false;
    return true;
  }

  function toRealPaths(changes: readonly PathChange[]): readonly (readonly string[])[] {
    return changes.map(({ path }) => toReal(path));
  }

  /** Checks locks before the content is read, and again when the file is about to be replaced. */
  async function write(
    path: readonly string[],
    content: AsyncIterable<Uint8Array>,
    writeOptions?: WriteOptions,
  ): Promise<StorageEntry> {
    const changes: readonly PathChange[] = [
      { path, changesFolder: async () => (await files.kindOf(path)) === undefined },
    ];
    if (await mayAll("write", changes)) await requireUnlocked(holder, changes);
    let end: () => void = () => undefined;
    const checked = watchSteps(() => content, {
      async onEnd() {
        end = running.start(toRealPaths(changes));
        await requireUnlocked(holder, changes);
      },
    });
    try {
      return await files.write(path, checked, writeOptions);
    } finally {
      end();
    }
  }

  async function createFolder(path: readonly string[]): Promise<void> {
    await change("create-folder", [{ path, changesFolder: true }], () => files.createFolder(path));
  }

  async function createFolderIfMissing(path: readonly string[]): Promise<boolean> {
    const changesFolder = async () => (await files.kindOf(path)) !== "folder";
    return change("create-folder", [{ path, changesFolder }], () => files.createFolderIfMissing(path));
  }

  const remove: AccountFiles["remove"] = async (path, kind, removal) => {
    const isFolder = (await files.kindOf(path)) === "folder";
    await change(
      isFolder ? "delete-folder" : "delete-file",
      [{ path, changesFolder: true, isTree: true }],
      async () => {
        await files.remove(path, kind, removal);
        await endLocks(path);
      },
    );
  };

  const copy: AccountFiles["copy"] = async (from, to, transfer) =>
    change("write", [{ path: to, changesFolder: true, isTree: true }], async () => {
      const staysLocked = await areFiles(from, to);
      const placement = await files.copy(from, to, transfer);
      if (placement === "replaced" && !staysLocked) await endLocks(to);
      return placement;
    });

  const move: AccountFiles["move"] = async (from, to, transfer) => {
    const changes = [from, to].map((path) => ({ path, changesFolder: true, isTree: true }));
    return change("rename", changes, async () => {
      const staysLocked = await areFiles(from, to);
      const placement = await files.move(from, to, transfer);
      await endLocks(from);
      if (placement === "replaced" && !staysLocked) await endLocks(to);
      return placement;
    });
  };

  /** A file that replaces a file leaves the locks as they are: office programs save this way. */
  async function areFiles(from: readonly string[], to: readonly string[]): Promise<boolean> {
    return (await files.kindOf(from)) === "file" && (await files.kindOf(to)) === "file";
  }

  /** Ends all locks at and below a path. The change has happened, so a failure only leaves locks until they expire. */
  async function endLocks(path: readonly string[]): Promise<void> {
    const real = toReal(path);
    try {
      const around = await locks.locksAround(real);
      const own = around.filter(({ root }) => root.length === real.length);
      await locks.end([...own, ...(await locks.locksBelow(real))]);
    } catch {
      // See above.
    }
  }

  const setAttributes: AccountFiles["setAttributes"] = async (path, changes) =>
    change("set-attributes", [{ path }], () => files.setAttributes(path, changes));

  return {
    ...files,
    ...createAccountLocks(holder, files, virtualFolders),
    write,
    createFolder,
    createFolderIfMissing,
    remove,
    copy,
    move,
    setAttributes,
  };
}

/** The locks of a service that has none. */
export const NO_ACCOUNT_LOCKS: AccountLocks = {
  submitTokens: () => undefined,
  lock: async () => {
    throw createError("method-not-implemented");
  },
  refreshLock: async () => undefined,
  unlock: async () => {
    throw createError("method-not-implemented");
  },
  locksOf: async () => [],
  locksOfMembers: async () => () => [],
  tokensOf: async () => [],
};
