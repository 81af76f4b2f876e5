import type { FileVersion, Versions } from "../contracts/kept/versions.ts";
import { StorageError } from "../contracts/storage-adapter.ts";

/**
 * Returns versions for dry runs. They are neither restored nor removed, but each looks as if it could be removed once.
 */
export function createDryRunVersions(versions: Versions): Versions {
  const purged = new Set<string>();

  async function find(path: string, id: string): Promise<FileVersion | undefined> {
    return purged.has(id) ? undefined : versions.find(path, id);
  }

  return {
    ...versions,
    find,
    async restore(path, id) {
      const found = await find(path, id);
      if (found === undefined) throw new StorageError("not-found");
      const { size, modified } = found;
      return { name: path.slice(path.lastIndexOf("/") + 1), kind: "file", size, modified };
    },
    async purge(path, id) {
      const found = await find(path, id);
      purged.add(id);
      return found !== undefined;
    },
  };
}
