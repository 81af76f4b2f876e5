import { toBatches } from "../contracts/member-batches.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../contracts/storage-adapter.ts";
import { toUnfollowed } from "../contracts/storage-entry.ts";
import { runSteps, type Work } from "../platform/fair-queue.ts";
import { toStoragePath } from "./path.ts";

/** A file, link or folder that {@link walkFolder} found, by its path in the storage. */
export interface WalkedMember {
  readonly segments: readonly string[];
  readonly kind: StorageEntry["kind"];
  /** Bytes; 0 for folders and symlinks. */
  readonly size: number;
}

/**
 * Yields everything below a folder, one folder's listing at a time. `run` runs each step of a listing.
 *
 * A link that the storage follows is yielded as a link, and what it leads to only if `followsLinks`: copies leave it
 * out, and removals leave it alone, but a move to another storage takes it along.
 */
export async function* walkFolder(
  storage: StorageAdapter,
  top: readonly string[],
  run: Work["run"],
  followsLinks = false,
): AsyncGenerator<WalkedMember> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const batch of runSteps(toBatches(storage.list(toStoragePath(folder))), {
        run,
        end: () => undefined,
      })) {
        for (const entry of batch) {
          const segments = [...folder, entry.name];
          const { kind, size } = followsLinks ? entry : toUnfollowed(entry);
          if (kind === "folder") waiting.push(segments);
          yield { segments, kind, size };
        }
      }
    } catch (error) {
      // A folder that was removed meanwhile has no members.
      if (!hasCode(error, "not-found")) throw error;
    }
  }
}
