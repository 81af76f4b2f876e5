import type { QuotaLimit } from "../../contracts/quota.ts";
import { hasCode, isStorageError, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { isInArea } from "../area.ts";
import { makeFolders } from "../wrappers/folders.ts";
import { createTimedId } from "../wrappers/timed-ids.ts";
import type { VersionInternals } from "./internals.ts";
import { toVersionsFolder } from "./places.ts";
import { prune, removeVersion } from "./stored.ts";

/** Options of the call that replaces a file. */
export interface KeepOptions {
  readonly quota?: QuotaLimit | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The replacement of a file. Nothing else in this process replaces the file meanwhile. */
export interface FileReplacement {
  /**
   * Locks the path, and keeps the content of the file that is there. `hasContent` returns whether the file
   * that replaces it has the same content: then there is nothing to keep.
   * @throws StorageError `incomplete` if the replacement is over.
   */
  begin(hasContent: (present: StorageEntry) => Promise<boolean>): Promise<void>;
  /** Does what is due after a replacement. `entry`: the new file, if it is known. It never rejects. */
  finish(entry?: StorageEntry): Promise<void>;
  /** Removes the version again if its file was not replaced. Never rejects. */
  undo(): Promise<void>;
  end(): void;
}

/** How often a copy begins again when a sweep has just removed the empty folder that it needs. */
const MAX_ATTEMPTS = 5;

/** Creates the {@link FileReplacement} of the file at a path. `paths`: those that it locks. */
export function createFileReplacement(
  internals: VersionInternals,
  path: string,
  options: KeepOptions,
  paths: readonly string[] = [path],
): FileReplacement {
  const { storage, mutex } = internals;
  const folder = toVersionsFolder(path);
  let unlock: (() => void) | undefined;
  /** A write that is aborted does not wait for the last step of its content, which may come here later. */
  let isOver = false;
  let kept: { readonly id: string; readonly present: StorageEntry } | undefined;

  async function begin(hasContent: (present: StorageEntry) => Promise<boolean>): Promise<void> {
    unlock = await mutex.lock(paths);
    if (isOver) {
      end();
      throw new StorageError("incomplete");
    }
    const present = await storage.stat(path);
    if (present === undefined || !hasVersions(internals, present) || (await hasContent(present))) return;
    const id = await keepContent(internals, path, folder, options);
    if (id !== undefined) kept = { id, present };
    if (isOver) await undo();
  }

  async function finish(entry?: StorageEntry): Promise<void> {
    if (kept === undefined) return;
    // Another caller has made the same file: it was not replaced.
    if (entry !== undefined && isSameFile(entry, kept.present)) return undo();
    try {
      await prune(internals, folder, kept.id);
    } catch (error) {
      // The next write of the file or the next sweep removes them.
      internals.report({ path, error });
    }
  }

  async function undo(): Promise<void> {
    if (kept === undefined) return;
    try {
      const found = await storage.stat(path);
      // After some failures the new file is there nevertheless.
      if (found !== undefined && isSameFile(found, kept.present)) await removeVersion(internals, folder, kept.id);
    } catch {
      // A listing leaves the version out, and the next sweep removes it.
    }
  }

  function end(): void {
    isOver = true;
    unlock?.();
    unlock = undefined;
  }

  return { begin, finish, undo, end };
}

/** Runs a call that replaces a file. */
export async function runFileReplacement<T>(
  replacement: FileReplacement,
  action: () => Promise<T>,
  toEntry: (result: T) => StorageEntry | undefined,
): Promise<T> {
  try {
    const result = await action();
    await replacement.finish(toEntry(result));
    return result;
  } catch (error) {
    await replacement.undo();
    throw error;
  } finally {
    replacement.end();
  }
}

/** Whether the content of a file is kept when it is replaced. */
export function hasVersions({ maxFileBytes }: VersionInternals, { kind, size }: StorageEntry): boolean {
  return kind === "file" && size > 0 && size <= maxFileBytes;
}

/** Copies the content of a file to its versions. Returns the ID; `undefined` if the file has just been removed. */
async function keepContent(
  { storage, clock }: VersionInternals,
  path: string,
  folder: string,
  { quota, signal }: KeepOptions,
): Promise<string | undefined> {
  const id = createTimedId(clock());
  const options = { kind: "file", mayShare: true, ...(quota && { quota }), ...(signal && { signal }) } as const;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await storage.copy(path, `${folder}/${id}`, options);
      return id;
    } catch (error) {
      const hasFolder = !hasCode(error, "parent-missing");
      if (hasFolder && hasCode(error, "not-found")) return undefined;
      if (hasFolder || attempt === MAX_ATTEMPTS) {
        await storage.remove(`${folder}/${id}`, { kind: "file", permanent: true }).catch(() => undefined);
        throw toWriteError(error);
      }
    }
    await makeFolders(storage, folder);
  }
}

/**
 * Maps an error of storing a version. The caller has not named the path of the version, so an error about names, kinds
 * or permissions becomes `unavailable`.
 */
function toWriteError(error: unknown): unknown {
  const isOwn = !isStorageError(error) || hasCode(error, "no-space", "too-large", "unavailable");
  return isOwn ? error : new StorageError("unavailable", "The former content cannot be kept.", { cause: error });
}

function isSameFile(one: StorageEntry, other: StorageEntry): boolean {
  if (one.kind !== other.kind || one.size !== other.size || one.etag !== other.etag) return false;
  return one.etag !== undefined || one.modified.getTime() === other.modified.getTime();
}

/** Whether a path is one of those that have versions. */
export function isVersioned(path: string): boolean {
  return path !== "/" && !isInArea(path);
}
