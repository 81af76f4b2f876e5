import { toBatches } from "../contracts/member-batches.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../contracts/storage-adapter.ts";
import { runSteps, type Work } from "../platform/fair-queue.ts";
import { toStoragePath } from "./path.ts";

/** A file, link or folder that {@link walkFolder} found, by its path in the storage. */
export interface WalkedMember {
  readonly segments: readonly string[];
  readonly kind: StorageEntry["kind"];
  /** Bytes; 0 for folders and symlinks. */
  readonly size: number;
}

/** Yields everything below a folder, one folder's listing at a time. `run` runs each step of a listing. */
export async function* walkFolder(
  storage: StorageAdapter,
  top: readonly string[],
  run: Work["run"],
): AsyncGenerator<WalkedMember> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const batch of runSteps(toBatches(storage.list(toStoragePath(folder))), {
        run,
        end: () => undefined,
      })) {
        for (const { name, kind, size } of batch) {
          const segments = [...folder, name];
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
