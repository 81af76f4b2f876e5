import { toStrongTag } from "../contracts/entity-tags.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../contracts/storage-adapter.ts";
import { toUnfollowed } from "../contracts/storage-entry.ts";
import { inParallel } from "../platform/in-parallel.ts";
import { sha256Hex } from "../platform/sha256.ts";

/** How many members of a folder are removed in parallel. */
const MAX_PARALLEL = 8;

/** Folders and versions of files that a copy has made or read, and their removal. */
export interface CopiedVersions {
  /** Notes a folder, or a version of a file. */
  note(path: string, entry?: StorageEntry): void;
  has(path: string, entry: StorageEntry): boolean;
  /**
   * Removes what was noted at a path and below it, and folders that nothing else is in. Links go with their folders.
   * Returns whether nothing else is left. A folder stays if it has members that the storage does not list.
   */
  remove(path: string, entry: StorageEntry): Promise<boolean>;
  /** Whether something was removed. */
  hasRemoved(): boolean;
}

/**
 * Creates an empty {@link CopiedVersions}. It keeps numbers: each takes 40 bytes of memory. A target may keep no times,
 * so nothing else tells what a copy has made from what other callers have put there.
 */
export function createCopiedVersions(storage: StorageAdapter): CopiedVersions {
  const versions = new Set<number>();
  /** Folders that stay with what the storage does not list. */
  const kept = new Set<string>();
  let hasRemoved = false;

  const has: CopiedVersions["has"] = (path, entry) => versions.has(toVersion(path, entry));

  async function remove(path: string, entry: StorageEntry): Promise<boolean> {
    if (!has(path, entry)) return false;
    if (entry.kind === "folder" && !isLink(entry)) return removeFolder(path);
    const etag = toStrongTag(entry.etag);
    const kind = entry.kind === "folder" ? "folder" : "file";
    await storage.remove(path, { kind, permanent: true, ...(etag !== undefined && { ifMatch: [etag] }) });
    hasRemoved = true;
    return true;
  }

  async function removeFolder(path: string): Promise<boolean> {
    const folders: StorageEntry[] = [];
    const removeMember = async (member: StorageEntry): Promise<void> => {
      if (!isLink(member)) await remove(`${path}/${member.name}`, member).catch(ignoreChanged);
    };
    await inParallel(storage.list(path), { most: MAX_PARALLEL }, async (member) => {
      if (member.kind === "folder") folders.push(member);
      else await removeMember(member);
    });
    for (const member of folders) await removeMember(member);
    if (await hasOthers(path)) return false;
    if (folders.some(({ name }) => kept.has(`${path}/${name}`))) kept.add(path);
    else await removeEmpty(path);
    return true;
  }

  /** Whether a folder has members that are neither links, nor folders that stay. */
  async function hasOthers(path: string): Promise<boolean> {
    for await (const member of storage.list(path)) {
      if (!isLink(member) && !kept.has(`${path}/${member.name}`)) return true;
    }
    return false;
  }

  /** Removes a folder that lists no members. It stays if it has others. */
  async function removeEmpty(path: string): Promise<void> {
    try {
      await storage.remove(path, { kind: "folder", permanent: true, ifEmpty: true });
      hasRemoved = true;
    } catch (error) {
      if (!hasCode(error, "precondition-failed")) throw error;
      kept.add(path);
    }
  }

  return {
    note: (path, entry) => void versions.add(toVersion(path, entry)),
    has,
    remove,
    hasRemoved: () => hasRemoved,
  };
}

/** A link that the storage follows is removed, too, but nothing that it leads to. */
function isLink(entry: StorageEntry): boolean {
  return toUnfollowed(entry).kind === "link";
}

/** Returns a number for a version of a file, or for a folder, at a path. Others have it only by chance. */
function toVersion(path: string, entry?: StorageEntry): number {
  const version = entry?.kind === "file" && (toStrongTag(entry.etag) ?? [entry.size, entry.modified]);
  return Number(`0x${sha256Hex(JSON.stringify([path, version])).slice(0, 13)}`);
}

function ignoreChanged(error: unknown): void {
  if (!hasCode(error, "precondition-failed", "not-found")) throw error;
}
