import { toBatches } from "../contracts/member-batches.ts";
import {
  hasCode,
  type Placement,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../contracts/storage-adapter.ts";
import { toUnfollowed } from "../contracts/storage-entry.ts";
import { checkSeparatePaths, checkSource, throwIfTaken } from "./conditions.ts";
import { type CopiedVersions, createCopiedVersions } from "./copied-versions.ts";
import { toFileContent } from "./file-content.ts";
import { NO_PROPERTIES } from "./properties.ts";
import { createChangedSourceError, removeSource } from "./remove-source.ts";
import { isUnread, toUnreadContent } from "./wrappers/dry-runs.ts";

/** A copy in progress. */
interface Copying {
  readonly storage: StorageAdapter;
  readonly options: TransferOptions;
  /** The copies get the times of their originals, which are then removed. */
  readonly isMove: boolean;
  /** What was created, and what a move has read. */
  readonly versions: CopiedVersions;
}

/** What a finished copy was made of, and whether it replaced something. */
interface Copied {
  readonly placement: Placement;
  readonly source: StorageEntry;
}

/**
 * A `copy` for storages without one of their own: reads the source and writes what it has read.
 *
 * A file replaces a file in one step. Anything else that is replaced is removed first, once the source was listed or
 * opened. If the copy fails later, what it replaces is lost. A copied folder grows member by member. If a member fails,
 * the copies are removed, but nothing that others have put there meanwhile. Links in a folder, also those that the
 * storage follows, and members that disappear meanwhile, are left out.
 */
export async function copyByReading(
  storage: StorageAdapter,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<Placement> {
  return (await copyTo(toCopying(storage, options, false), from, to)).placement;
}

/**
 * A `move` for storages without one of their own: copies the source, and then removes it. It is not atomic. If the
 * removal fails, both the source and the copy stay, and it rejects with `unavailable`. It also does so if the file
 * changed meanwhile. Symlinks are not moved (`not-found`), but what a link leads to that the storage follows is.
 *
 * If something in a folder was created or changed after it was copied, nothing is moved (`unavailable`). Only what was
 * copied is removed, file by file, so a change during the removal stays too: then both folders have a part. A folder
 * that is found empty is removed in another step, and with it what comes between the two, if the storage does not look
 * again (`RemoveOptions`). A folder with members that the storage does not list stays with them.
 *
 * If several callers move one source, one succeeds, provided that `remove` says which caller removed it.
 */
export async function moveByCopying(
  storage: StorageAdapter,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<Placement> {
  const copying = toCopying(storage, options, true);
  const { versions } = copying;
  const { placement, source } = await copyTo(copying, from, to);

  async function remove(): Promise<void> {
    const isDone = await versions.remove(from, source).catch((error: unknown) => {
      // Another caller has removed the rest: neither has moved the whole folder, so the copy stays.
      if (versions.hasRemoved() && hasCode(error, "not-found")) return false;
      throw error;
    });
    if (!isDone) throw createChangedSourceError();
  }

  return removeSource(placement, remove, () => takeBack(copying, to));
}

function toCopying(storage: StorageAdapter, options: TransferOptions, isMove: boolean): Copying {
  return { storage, options, isMove, versions: createCopiedVersions(storage) };
}

async function copyTo(copying: Copying, from: string, to: string): Promise<Copied> {
  const { storage, options } = copying;
  checkSeparatePaths(from, to);
  options.signal?.throwIfAborted();
  const source = checkSource(await storage.stat(from), options);
  const target = await storage.stat(to);
  if (target !== undefined && options.replace !== true) throw new StorageError("already-exists");
  const isFile = source.kind === "file";
  // A file replaces a file or a symlink in one step.
  const mustRemove = target !== undefined && (target.kind === "folder" || !isFile);
  options.onRead?.();
  if (mustRemove) {
    await checkReadable(copying, from, source);
    await storage.remove(to);
  }
  try {
    await (isFile ? copyFile(copying, from, to) : copyFolder(copying, from, to));
  } catch (error) {
    // With the new content in place of the old one, there is no way back.
    if (target === undefined || mustRemove) await takeBack(copying, to);
    throw error;
  }
  return { placement: target === undefined ? "created" : "replaced", source };
}

/** Checks that a file can be opened, or a folder listed with all below it: what cannot be read replaces nothing. */
async function checkReadable(copying: Copying, path: string, { kind }: StorageEntry): Promise<void> {
  const { storage, options } = copying;
  if (kind === "file") return toFileContent(await storage.read(path)).close();
  for await (const _ of walk(copying, path)) options.signal?.throwIfAborted();
}

/** Copies a folder that does not exist yet. For a move it then checks that the source is still as it was copied. */
async function copyFolder(copying: Copying, from: string, to: string): Promise<void> {
  const { options, isMove, versions } = copying;
  await copyMember(copying, from, to, "folder");
  for await (const [path, { kind }] of walk(copying, from)) {
    options.signal?.throwIfAborted();
    await copyMember(copying, path, to + path.slice(from.length), kind).catch(ignoreNotFound);
  }
  if (!isMove) return;
  for await (const [path, entry] of walk(copying, from)) {
    if (!versions.has(path, entry)) throw createChangedSourceError();
  }
}

async function copyMember(copying: Copying, from: string, to: string, kind: StorageEntry["kind"]): Promise<void> {
  if (kind === "folder") {
    await copying.storage.createFolder(to);
    noteCopied(copying, from, to);
    await copyProperties(copying, from, to);
  } else {
    // The other options are about the folder.
    const { signal, quota } = copying.options;
    const options = { ...(signal && { signal }), ...(quota && { quota }) };
    await copyFile({ ...copying, options }, from, to);
  }
}

/** Copies the version of a file that it opens. */
async function copyFile(copying: Copying, from: string, to: string): Promise<void> {
  const { storage, options, isMove } = copying;
  const isNew = options.replace !== true;
  const file = await storage.read(from);
  const content = toFileContent(file);
  try {
    const { size, modified } = checkSource(file.entry, options);
    const writing = storage.write(to, isUnread(file) ? toUnreadContent(size) : content.chunks(), {
      size,
      ...(options.signal && { signal: options.signal }),
      ...(options.quota && { quota: options.quota }),
      ...(isNew && { ifNoneMatch: "*" }),
      ...(isMove && { modified }),
    });
    const written = await (isNew ? writing.catch(throwIfTaken) : writing);
    noteCopied(copying, from, to, file.entry, written);
    await copyProperties(copying, from, to, written);
  } finally {
    await content.close();
  }
}

/** Gives a copy the properties of its original, and no others, if the storage keeps properties there. */
async function copyProperties({ storage }: Copying, from: string, to: string, copy?: StorageEntry): Promise<void> {
  const { attributes } = storage;
  if (attributes === undefined) return;
  const original = await storage.stat(from);
  const hasOld = copy?.hasProperties === true;
  if (original?.hasProperties !== true && !hasOld) return;
  const old = hasOld ? await attributes.properties(to) : NO_PROPERTIES;
  const wanted = original?.hasProperties === true ? await attributes.properties(from) : NO_PROPERTIES;
  const removed = Array.from(old.keys(), (name) => [name, undefined] as const);
  const properties = new Map<string, string | undefined>([...removed, ...wanted]);
  await attributes.change(to, { properties }).catch((error: unknown) => {
    if (!hasCode(error, "unsupported")) throw error;
  });
}

/** Notes a folder or a version of a file that was created, and for a move also its original. */
function noteCopied(
  { isMove, versions }: Copying,
  from: string,
  to: string,
  original?: StorageEntry,
  copy?: StorageEntry,
): void {
  versions.note(to, copy);
  if (isMove) versions.note(from, original);
}

/** Removes what a copy has created, as far as possible. What other callers have created or changed stays. */
async function takeBack({ storage, versions }: Copying, to: string): Promise<void> {
  const entry = await storage.stat(to).catch(() => undefined);
  if (entry !== undefined) await versions.remove(to, entry).catch(() => undefined);
}

/** Yields the files and folders below a folder, each folder before its members. A move has also what links lead to. */
async function* walk(
  { storage, isMove }: Pick<Copying, "storage" | "isMove">,
  top: string,
): AsyncGenerator<readonly [path: string, entry: StorageEntry]> {
  const isWalked = (entry: StorageEntry): boolean => (isMove ? entry : toUnfollowed(entry)).kind !== "link";
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const batch of toBatches(storage.list(folder))) {
        for (const entry of batch.filter(isWalked)) {
          const path = `${folder}/${entry.name}`;
          if (entry.kind === "folder") waiting.push(path);
          yield [path, entry];
        }
      }
    } catch (error) {
      // A folder that was removed meanwhile has no members.
      if (folder === top) throw error;
      ignoreNotFound(error);
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (!hasCode(error, "not-found")) throw error;
}
