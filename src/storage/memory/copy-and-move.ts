import { type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { checkSeparatePaths, checkSource } from "../conditions.ts";
import type { File, Folder, Location, MemoryTree } from "./tree.ts";

/** Copies a file or a folder, in one step. The bytes are shared. */
export function copyInMemory(tree: MemoryTree, from: string, to: string, options: TransferOptions): Placement {
  const { source, target } = findBoth(tree, from, to, options);
  return place(tree, target, toCopy(tree, source));
}

/** Moves a file or a folder, in one step. */
export function moveInMemory(tree: MemoryTree, from: string, to: string, options: TransferOptions): Placement {
  const { source, target } = findBoth(tree, from, to, options);
  const placement = place(tree, target, toMoved(tree, source));
  tree.remove(tree.locate(toPathSegments(from)));
  return placement;
}

function findBoth(
  tree: MemoryTree,
  from: string,
  to: string,
  options: TransferOptions,
): { source: File | Folder; target: Location } {
  checkSeparatePaths(from, to);
  options.signal?.throwIfAborted();
  const source = checkSource(find(tree, from), options);
  const target = tree.locate(toPathSegments(to));
  if (isTaken(target) && options.replace !== true) throw new StorageError("already-exists");
  return { source, target };
}

/** The entity-tag of a folder is missing, not undefined, for {@link checkSource}. */
function find(tree: MemoryTree, path: string): (File | (Folder & { readonly etag?: never })) | undefined {
  return tree.find(toPathSegments(path));
}

function isTaken({ parent, name }: Location): boolean {
  return parent.members.has(name);
}

function place(tree: MemoryTree, target: Location, member: File | Folder): Placement {
  const placement = isTaken(target) ? "replaced" : "created";
  // Members are kept in the order of their creation.
  target.parent.members.delete(target.name);
  tree.put(target, member);
  return placement;
}

function toCopy(tree: MemoryTree, source: File | Folder): File | Folder {
  return source.kind === "file" ? toFileCopy(tree, source) : toFolderCopy(tree, source);
}

function toFileCopy(tree: MemoryTree, source: File): File {
  const modified = tree.now();
  return { ...source, modified, etag: tree.nextEtag(modified), createdAs: tree.nextCreation() };
}

/** Without recursion, which has a limit: a tree may have any depth. */
function toFolderCopy(tree: MemoryTree, source: Folder): Folder {
  const top = toEmptyCopy(tree, source);
  const waiting = [{ source, copy: top }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [name, member] of next.source.members) {
      const copy = member.kind === "file" ? toFileCopy(tree, member) : toEmptyCopy(tree, member);
      next.copy.members.set(name, copy);
      if (member.kind === "folder" && copy.kind === "folder") waiting.push({ source: member, copy });
    }
  }
  return top;
}

function toEmptyCopy(tree: MemoryTree, { properties }: Folder): Folder {
  const copy = tree.createFolder();
  copy.properties = properties;
  return copy;
}

/** Listings skip members with a higher number than they have seen, so the moved member gets a new one. */
function toMoved(tree: MemoryTree, source: File | Folder): File | Folder {
  if (source.kind === "file") return { ...source, createdAs: tree.nextCreation() };
  source.createdAs = tree.nextCreation();
  return source;
}
