import { toStrongTag } from "../contracts/entity-tags.ts";
import { toBatches } from "../contracts/member-batches.ts";
import {
  hasCode,
  type Placement,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../contracts/storage-adapter.ts";
import { checkSeparatePaths, checkSource } from "./conditions.ts";
import { toFileContent } from "./file-content.ts";
import { NO_PROPERTIES } from "./properties.ts";
import { isUnread, toUnreadContent } from "./wrappers/dry-runs.ts";

/** A copy in progress. */
interface Copying {
  readonly storage: StorageAdapter;
  readonly options: TransferOptions;
  /** The copies get the times of their originals. */
  readonly keepsTimes: boolean;
}

/** What a finished copy has made. */
interface Copied {
  readonly placement: Placement;
  readonly source: StorageEntry;
  /** The copy, if it is a file. */
  readonly file?: StorageEntry;
}

/**
 * A `copy` for storages without one of their own: reads the source and writes what it has read.
 *
 * A file replaces a file in one step. Anything else that is replaced is removed first. A copied folder grows member by
 * member, and is removed if a member fails. Symlinks, and members that disappear meanwhile, are left out.
 */
export async function copyByReading(
  storage: StorageAdapter,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<Placement> {
  return (await copyTo({ storage, options, keepsTimes: false }, from, to)).placement;
}

/**
 * A `move` for storages without one of their own: copies the source, and then removes it. It is not atomic. If the
 * removal fails, both the source and the copy stay, and it rejects with `unavailable`. It also does so if the file
 * changed meanwhile. Symlinks are not moved (`not-found`).
 *
 * If several callers move one source, one succeeds, provided that `remove` says which caller removed it.
 */
export async function moveByCopying(
  storage: StorageAdapter,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<Placement> {
  const { placement, source, file } = await copyTo({ storage, options, keepsTimes: true }, from, to);
  const etag = toStrongTag(source.etag);
  const kind = source.kind === "folder" ? "folder" : "file";
  try {
    await storage.remove(from, { kind, permanent: true, ...(etag !== undefined && { ifMatch: [etag] }) });
  } catch (error) {
    if (!hasCode(error, "not-found")) {
      throw new StorageError("unavailable", "The source of a move remains next to its copy.", { cause: error });
    }
    // Another caller has moved it. A copy that replaced something stays, because it may have replaced the copy of that
    // caller.
    if (placement === "created") await removeCopy(storage, to, file);
    throw error;
  }
  return placement;
}

async function copyTo(copying: Copying, from: string, to: string): Promise<Copied> {
  const { storage, options } = copying;
  checkSeparatePaths(from, to);
  options.signal?.throwIfAborted();
  const source = checkSource(await storage.stat(from), options);
  const target = await storage.stat(to);
  if (target !== undefined && options.replace !== true) throw new StorageError("already-exists");
  const placement = target === undefined ? "created" : "replaced";
  const isFile = source.kind === "file";
  // A file replaces a file or a symlink in one step.
  const mustRemove = target !== undefined && (target.kind === "folder" || !isFile);
  options.onRead?.();
  if (mustRemove) await storage.remove(to);
  if (!isFile) {
    await copyFolder(copying, from, to);
    return { placement, source };
  }
  return { placement, source, file: await copyFile(copying, from, to, placement) };
}

/** Copies a folder that does not exist yet, and removes the copy if a member fails. */
async function copyFolder(copying: Copying, from: string, to: string): Promise<void> {
  const { storage, options } = copying;
  await storage.createFolder(to);
  try {
    await copyProperties(copying, from, to);
    for await (const { path, kind } of walk(storage, from)) {
      options.signal?.throwIfAborted();
      await copyMember(copying, path, to + path.slice(from.length), kind).catch(ignoreNotFound);
    }
  } catch (error) {
    await storage.remove(to, { kind: "folder", permanent: true }).catch(() => undefined);
    throw error;
  }
}

async function copyMember(copying: Copying, from: string, to: string, kind: "file" | "folder"): Promise<void> {
  if (kind === "folder") {
    await copying.storage.createFolder(to);
    await copyProperties(copying, from, to);
  } else {
    // The other options are about the folder.
    const { signal, quota } = copying.options;
    const options = { ...(signal && { signal }), ...(quota && { quota }) };
    await copyFile({ ...copying, options }, from, to, "created");
  }
}

/** Copies the version of a file that it opens. A new copy is removed if its properties cannot be stored. */
async function copyFile(copying: Copying, from: string, to: string, placement: Placement): Promise<StorageEntry> {
  const { storage, options, keepsTimes } = copying;
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
      ...(keepsTimes && { modified }),
    });
    const written = await (isNew ? asNewMember(writing) : writing);
    try {
      await copyProperties(copying, from, to, written);
    } catch (error) {
      if (placement === "created") await removeCopy(storage, to, written);
      throw error;
    }
    return written;
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

/** Yields the files and folders below a folder, each folder before its members. */
async function* walk(storage: StorageAdapter, top: string): AsyncGenerator<{ path: string; kind: "file" | "folder" }> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const batch of toBatches(storage.list(folder))) {
        for (const { name, kind } of batch) {
          const path = `${folder}/${name}`;
          if (kind === "folder") waiting.push(path);
          if (kind !== "link") yield { path, kind };
        }
      }
    } catch (error) {
      // A folder that was removed meanwhile has no members.
      if (folder === top) throw error;
      ignoreNotFound(error);
    }
  }
}

/** Maps the errors of a write that may not replace anything to those of a copy. */
async function asNewMember<T>(writing: Promise<T>): Promise<T> {
  return writing.catch((error: unknown) => {
    const isTaken = hasCode(error, "precondition-failed", "not-a-file");
    throw isTaken ? new StorageError("already-exists", "Something else was created there.", { cause: error }) : error;
  });
}

/** Removes the copy of a move that came too late, unless another caller has changed it since. */
async function removeCopy(storage: StorageAdapter, path: string, file: StorageEntry | undefined): Promise<void> {
  const etag = toStrongTag(file?.etag);
  const condition = etag === undefined ? {} : { ifMatch: [etag] };
  const kind = file === undefined ? "folder" : "file";
  await storage.remove(path, { kind, permanent: true, ...condition }).catch(() => undefined);
}

function ignoreNotFound(error: unknown): void {
  if (!hasCode(error, "not-found")) throw error;
}
