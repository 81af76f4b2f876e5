import type { StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { type CountedUpload, type CountedUploads, toNeeded } from "./counted-uploads.ts";
import type { ChangedPart } from "./settlement.ts";
import { createFileCommit, type QuotaInternals } from "./writes.ts";

/**
 * Creates `join` of the uploads of a storage with quotas. The file takes over what is reserved for its parts, so they
 * have none of it for another file, and need nothing until they are discarded.
 */
export function createQuotaJoin(
  internals: QuotaInternals,
  { find, join }: Pick<StorageUploads, "find"> & Required<Pick<StorageUploads, "join">>,
  counted: CountedUploads,
): Required<StorageUploads>["join"] {
  const { admissions } = internals;

  return async (keys, path, options = {}) => {
    const states = await Promise.all(keys.map(find));
    const parts = new Map<string, CountedUpload>();
    const reservation = admissions.open(admissions.limitsOf(path, options.quota));
    const commit = createFileCommit(internals, path, reservation);
    try {
      // A part may be in the file several times.
      for (const state of states) if (state !== undefined) openOnce(parts, state);
      const bytes = states.reduce((sum, state) => sum + (state?.offset ?? 0), 0);
      const credit = [...parts.values()].map((part) => part.claim());
      if (!states.includes(undefined)) await commit.begin(bytes, credit);
      const entry = await reservation.during(
        (signal) => join(keys, path, signal ? { ...options, signal } : options),
        options.signal,
      );
      await spendAll([...parts.values()], (changes) => commit.count(entry, changes));
      return entry;
    } catch (error) {
      await commit.recountIfReplaced(error);
      throw error;
    } finally {
      commit.end();
      for (const part of parts.values()) part.close();
      await reservation.release();
    }
  };

  function openOnce(parts: Map<string, CountedUpload>, state: UploadState): void {
    const name = toName(state.key);
    if (!parts.has(name)) parts.set(name, counted.open(state.key, state.path, toNeeded(state)));
  }
}

/** Counts all parts as one change. */
async function spendAll(
  [part, ...others]: readonly CountedUpload[],
  count: (changes: readonly ChangedPart[]) => Promise<void>,
): Promise<void> {
  if (part === undefined) return count([]);
  await part.spend((change) => spendAll(others, (changes) => count([change, ...changes])));
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
