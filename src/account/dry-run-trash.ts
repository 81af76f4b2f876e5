import type { Trash } from "../contracts/kept/trash.ts";
import { StorageError } from "../contracts/storage-adapter.ts";

/**
 * Returns a trash for dry runs. Its entries are neither restored nor removed, but each looks as if it could be ended
 * once.
 */
export function createDryRunTrash(trash: Trash): Trash {
  const ended = new Set<string>();

  function end(id: string): boolean {
    const isFirst = !ended.has(id);
    ended.add(id);
    return isFirst;
  }

  return {
    ...trash,
    async restore(id, to = "/") {
      if (!end(id)) throw new StorageError("not-found");
      return to;
    },
    purge: async (id) => end(id),
  };
}
