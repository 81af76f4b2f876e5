import type { Operation } from "../../contracts/account.ts";
import { type Placement, type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import type { UploadState } from "../../contracts/storage-uploads.ts";
import { watchSteps } from "../../contracts/watch-steps.ts";
import { createError } from "../../http/errors.ts";
import type { VirtualFolder } from "../account.ts";
import type { AccountTrash } from "../account-trash.ts";
import type { FileVersions } from "../file-versions.ts";
import type { AccountFiles, FilesWithoutLocks } from "../files.ts";
import type { AccountUploads } from "../uploads/account-uploads.ts";
import { toKeptPath, type UploadNote } from "../uploads/upload-note.ts";
import { createAccountLocks, type Submitted } from "./account-locks.ts";
import type { RootedLock } from "./lock.ts";
import { LockError } from "./lock-error.ts";
import { type LockHolder, type PathChange, requireUnlocked } from "./lock-guard.ts";

/** What the locks of an account's files need. */
export interface LockedFilesOptions extends Omit<LockHolder, "submitted" | "mayList"> {
  readonly virtualFolders: readonly VirtualFolder[];
}

/** Adds locks to an account's files: all changes obey them. */
export function withLocks(files: FilesWithoutLocks, options: LockedFilesOptions): AccountFiles {
  const { locks, toReal, virtualFolders } = options;
  const mayList = (folder: readonly string[]): Promise<boolean> => files.may(folder, "list");
  const holder: LockHolder & Submitted = { ...options, submitted: new Set<string>(), mayList };
  const { running } = locks;

  /**
   * Runs changes that happen immediately, unless a lock forbids one of them. `act` gets the locks that were found in
   * the tree of each change. Newer ones wait for the change and go on.
   */
  async function change<T>(
    operation: Operation,
    changes: readonly PathChange[],
    act: (found: readonly (readonly RootedLock[])[]) => Promise<T>,
  ): Promise<T> {
    return running.run(toRealPaths(changes), async () => {
      const found = await check(operation, changes);
      await checkSubmitted();
      return act(found);
    });
  }

  /** Later changes of a request find what its first one has made. */
  async function checkSubmitted(): Promise<void> {
    const submitted = holder.check;
    holder.check = undefined;
    await submitted?.();
  }

  /** Throws if a lock forbids a change: `denied` if the permissions forbid it too, so that the lock stays unknown. */
  async function check(
    operation: Operation,
    changes: readonly PathChange[],
  ): Promise<readonly (readonly RootedLock[])[]> {
    try {
      return await requireUnlocked(holder, changes);
    } catch (error) {
      if (!(error instanceof LockError) || (await mayAll(operation, changes))) throw error;
      throw createError("denied");
    }
  }

  async function mayAll(operation: Operation, changes: readonly PathChange[]): Promise<boolean> {
    for (const { path } of changes) if (!(await files.may(path, operation))) return false;
    return true;
  }

  function toRealPaths(changes: readonly PathChange[]): readonly (readonly string[])[] {
    return changes.map(({ path }) => toReal(path));
  }

  /** Checks the locks before the content is read, and again after its last byte. */
  async function write(
    path: readonly string[],
    content: AsyncIterable<Uint8Array>,
    writeOptions?: WriteOptions,
  ): Promise<StorageEntry> {
    const changes: readonly PathChange[] = [
      { path, changesFolder: async () => (await files.kindOf(path)) === undefined },
    ];
    await check("write", changes);
    let endChange: () => void = () => undefined;
    let isOver = false;
    const checked = watchSteps(() => content, {
      async onEnd() {
        // A write that is aborted does not wait for the last step of its content, which may come here later.
        if (isOver) throw new StorageError("incomplete");
        endChange = running.start(toRealPaths(changes));
        await requireUnlocked(holder, changes);
        await checkSubmitted();
      },
    });
    try {
      return await files.write(path, checked, writeOptions);
    } finally {
      isOver = true;
      endChange();
    }
  }

  async function createFolder(path: readonly string[]): Promise<void> {
    const changesFolder = async () => (await files.kindOf(path)) === undefined;
    await change("create-folder", [{ path, changesFolder }], () => files.createFolder(path));
  }

  async function createFolderIfMissing(path: readonly string[]): Promise<boolean> {
    const changesFolder = async () => (await files.kindOf(path)) !== "folder";
    return change("create-folder", [{ path, changesFolder }], () => files.createFolderIfMissing(path));
  }

  const remove: AccountFiles["remove"] = async (path, kind, removal) => {
    const isFolder = (await files.kindOf(path)) === "folder";
    const changesFolder = () => files.isTaken(path);
    const changes = [{ path, changesFolder, isTree: true }];
    await change(isFolder ? "delete-folder" : "delete-file", changes, async ([removed]) => {
      await files.remove(path, kind, removal);
      await endLocks(removed);
    });
  };

  const copy: AccountFiles["copy"] = async (from, to, options) => {
    const operation = (await files.kindOf(from)) === "folder" ? "create-folder" : "write";
    const changes = [{ path: to, changesFolder: true, isTree: true }];
    return change(operation, changes, ([replaced]) => runAndEndLocks("copy", replaced, from, to, options));
  };

  const move: AccountFiles["move"] = async (from, to, options) => {
    const changes = [from, to].map((path) => ({ path, changesFolder: true, isTree: true }));
    return change("rename", changes, async ([moved, replaced]) => {
      const placement = await runAndEndLocks("move", replaced, from, to, options);
      await endLocks(moved);
      return placement;
    });
  };

  /** Ends the locks of what a copy or a move replaces, also if it fails after it has removed that. */
  async function runAndEndLocks(
    verb: "copy" | "move",
    found: readonly RootedLock[] | undefined,
    ...[from, to, options]: Parameters<AccountFiles["copy"]>
  ): Promise<Placement> {
    const isReplaced = (await files.isTaken(to)) && !(await areFiles(from, to));
    const replaced = isReplaced ? found : [];
    try {
      const placement = await files[verb](from, to, options);
      if (placement === "replaced") await endLocks(replaced);
      return placement;
    } catch (error) {
      const kind = await files.kindOf(to).catch(() => "file");
      if (kind === undefined) await endLocks(replaced);
      throw error;
    }
  }

  /** A file that replaces a file leaves the locks as they are: office programs save this way. */
  async function areFiles(from: readonly string[], to: readonly string[]): Promise<boolean> {
    return (await files.kindOf(from)) === "file" && (await files.kindOf(to)) === "file";
  }

  /** The change has happened, so a failure only leaves locks until they expire. */
  async function endLocks(found: readonly RootedLock[] = []): Promise<void> {
    if (found.length > 0) await locks.end(found).catch(() => undefined);
  }

  const setAttributes: AccountFiles["setAttributes"] = async (path, changes) =>
    change("set-attributes", [{ path }], () => files.setAttributes(path, changes));

  /** Checks the locks when an upload is created and completed. Tokens of the creation count at the completion too. */
  function toLockedUploads(uploads: AccountUploads): AccountUploads {
    function toChanges(path: readonly string[]): readonly PathChange[] {
      return [{ path, changesFolder: async () => (await files.kindOf(path)) === undefined }];
    }

    /** The file that an upload will be. If it is named later, that is a new file in the folder. */
    function toCreated({
      note,
      state,
    }: {
      readonly note: UploadNote;
      readonly state?: UploadState;
    }): readonly string[] {
      return toKeptPath(state?.key.id ?? crypto.randomUUID(), note);
    }

    return {
      ...uploads,
      async create(upload) {
        const { note } = upload;
        if (note.concat === "partial") return uploads.create(upload);
        await check("write", toChanges(toCreated(upload)));
        if (holder.submitted.size === 0) return uploads.create(upload);
        return uploads.create({ ...upload, note: { ...note, tokens: [...holder.submitted] } });
      },
      async complete(upload, completing) {
        const { path = toCreated(upload) } = completing ?? {};
        for (const token of upload.note.tokens ?? []) holder.submitted.add(token);
        return change("write", toChanges(path), () => uploads.complete(upload, completing));
      },
      join: (parts, upload) =>
        change("write", toChanges(upload.path ?? upload.note.path), () => uploads.join(parts, upload)),
    };
  }

  /** The outermost of the missing folders around a path, or the path itself: only its name is new in a folder. */
  async function findOutermost(path: readonly string[]): Promise<readonly string[]> {
    let found = path;
    while (found.length > 1 && !(await files.isTaken(found.slice(0, -1)))) found = found.slice(0, -1);
    return found;
  }

  function toLockedTrash(trash: AccountTrash): AccountTrash {
    return {
      ...trash,
      async restore(entry, to = entry.segments) {
        const operation = entry.kind === "folder" ? "create-folder" : "write";
        const restored = { path: to, changesFolder: true, isTree: true };
        const outermost = await findOutermost(to);
        if (outermost === to) return change(operation, [restored], () => trash.restore(entry, to));
        const created = { path: outermost, changesFolder: true };
        await change("create-folder", [created], () => change(operation, [restored], () => trash.restore(entry, to)));
      },
    };
  }

  function toLockedVersions(versions: FileVersions): FileVersions {
    return {
      ...versions,
      restore: (path, ...restoring) => change("write", [{ path }], () => versions.restore(path, ...restoring)),
    };
  }

  return {
    ...files,
    ...createAccountLocks(holder, files, virtualFolders),
    ...(files.trash && { trash: toLockedTrash(files.trash) }),
    ...(files.versions && { versions: toLockedVersions(files.versions) }),
    ...(files.uploads && { uploads: toLockedUploads(files.uploads) }),
    write,
    createFolder,
    createFolderIfMissing,
    remove,
    copy,
    move,
    setAttributes,
  };
}
