import { matchesStrongly } from "../contracts/entity-tags.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import {
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../contracts/storage-adapter.ts";
import { nameOf, parentOf } from "../contracts/storage-path.ts";
import { createLocationError } from "../storage/mount.ts";

/** What a change has left at a path: a new folder, nothing, or what another path of the storage has. */
type Change = "folder" | "nothing" | { readonly source: string };

/**
 * Returns a tree whose folders, removals, copies and moves are checked and not made: the tree looks as if they had
 * been. They fail as those of `tree` do, as far as it can be seen in advance. `isFixed`: whether a path can be neither
 * removed nor replaced, because another storage is mounted there. Nothing can be written to it.
 */
export function createDryRunTree(tree: StorageAdapter, isFixed: (path: string) => boolean): StorageAdapter {
  const changes = new Map<string, Change>();

  /** What a path has: something new, nothing, or what the tree has at a path. */
  function look(path: string): Change {
    for (let at = path; ; at = parentOf(at)) {
      const change = changes.get(at);
      const rest = path.slice(at.length);
      if (change === undefined && at !== "/") continue;
      if (change === undefined) return { source: path };
      if (typeof change === "object") return { source: `${change.source}${rest}` };
      return rest === "" ? change : "nothing";
    }
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const found = look(path);
    if (found === "nothing") return undefined;
    const name = nameOf(path);
    if (found === "folder") return { name, kind: "folder", size: 0, modified: new Date() };
    const entry = await tree.stat(found.source);
    return entry && { ...entry, name };
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const found = look(path);
    if (found === "nothing") throw new StorageError("not-found");
    const own = [...changes.keys()].filter((key) => key !== "/" && parentOf(key) === path);
    if (found !== "folder") {
      const names = new Set(own.map(nameOf));
      for await (const batch of toBatches(tree.list(found.source))) yield batch.filter(({ name }) => !names.has(name));
    }
    const entries = await Promise.all(own.map(stat));
    yield entries.filter((entry) => entry !== undefined);
  }

  async function createFolder(path: string): Promise<void> {
    if ((await stat(path)) !== undefined) throw new StorageError("already-exists");
    await requireParent(path);
    set(path, "folder");
  }

  async function remove(path: string, options: RemoveOptions = {}): Promise<void> {
    requireMovable(path);
    await requireEntry(path, options);
    set(path, "nothing");
  }

  async function copy(from: string, to: string, options: TransferOptions = {}): Promise<Placement> {
    requireMovable(to);
    await requireEntry(from, options);
    await requireParent(to);
    const isTaken = (await stat(to)) !== undefined;
    if (isTaken && options.replace !== true) throw new StorageError("already-exists");
    set(to, look(from));
    return isTaken ? "replaced" : "created";
  }

  async function move(from: string, to: string, options?: TransferOptions): Promise<Placement> {
    requireMovable(from);
    const placement = await copy(from, to, options);
    set(from, "nothing");
    return placement;
  }

  function set(path: string, change: Change): void {
    for (const key of [...changes.keys()]) if (key.startsWith(`${path}/`)) changes.delete(key);
    changes.set(path, change);
  }

  function requireMovable(path: string): void {
    if (isFixed(path)) throw createLocationError("Another storage is mounted here.");
  }

  async function requireEntry(path: string, { kind, ifMatch }: Pick<RemoveOptions, "kind" | "ifMatch">): Promise<void> {
    const entry = await stat(path);
    const isWanted = kind === undefined || (entry?.kind === "folder") === (kind === "folder");
    if (entry === undefined || !isWanted) throw new StorageError("not-found");
    const isMatching = ifMatch === undefined || (entry.etag !== undefined && matchesStrongly(entry.etag, ifMatch));
    if (!isMatching) throw new StorageError("precondition-failed");
  }

  async function requireParent(path: string): Promise<void> {
    const parent = await stat(parentOf(path));
    if (parent?.kind === "folder") return;
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const found = await stat(at);
      if (found !== undefined) throw new StorageError(found.kind === "folder" ? "parent-missing" : "not-a-folder");
    }
    throw new StorageError("parent-missing");
  }

  return {
    stat,
    list: (path) => toMembers(() => listBatches(path)),
    read: (path, range) => tree.read(path, range),
    write: async () => {
      throw new StorageError("unsupported");
    },
    createFolder,
    remove,
    copy,
    move,
  };
}
