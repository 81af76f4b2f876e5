import { toBatches } from "../../contracts/member-batches.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/** How many folders have been listed. A walk lists many, and a storage may never wait for anything. */
let listed = 0;
const FOLDERS_PER_PAUSE = 64;

/** Lists a folder. Anything else has no members. */
export async function* listIfFolder(storage: StorageAdapter, path: string): AsyncGenerator<readonly StorageEntry[]> {
  listed += 1;
  if (listed % FOLDERS_PER_PAUSE === 0) await yieldToEventLoop();
  try {
    yield* toBatches(storage.list(path));
  } catch (error) {
    if (!hasCode(error, "not-found", "not-a-folder")) throw error;
  }
}

/** For `catch`: it is not an error that another caller has removed something already. */
export function ignoreMissing(error: unknown): void {
  if (!hasCode(error, "not-found")) throw error;
}
