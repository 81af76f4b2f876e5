import type { FileVersion } from "../../../../src/contracts/kept/versions.ts";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createVersionsStorage, type VersionsOptions, type VersionsStorage } from "../../../../src/storage/versions.ts";
import { bodyText } from "../../../../src/testing/storage/content.ts";

/** A storage with versions, the storage below it, and a clock that only the test moves. */
export interface OpenedVersions {
  readonly inner: StorageAdapter;
  readonly storage: VersionsStorage;
  pass(seconds: number): void;
}

/** Opens versions in a storage: in memory, if no other is given. Each version has a time of its own. */
export function openVersions(
  options: VersionsOptions = {},
  inner: StorageAdapter = createMemoryStorage(),
): OpenedVersions {
  let now = Date.UTC(2026, 0, 1);
  const clock = (): number => {
    now += 1;
    return now;
  };
  const storage = createVersionsStorage(inner, { clock, ...options });
  const pass = (seconds: number): void => {
    now += 1000 * seconds;
  };
  return { inner, storage, pass };
}

/** The versions of a file, in their order. */
export async function versionsOf(
  { versions }: Pick<VersionsStorage, "versions">,
  path: string,
): Promise<readonly FileVersion[]> {
  const found: FileVersion[] = [];
  for await (const version of versions.list(path)) found.push(version);
  return found;
}

/** The texts of the versions of a file, the newest first. */
export async function textsOf(storage: Pick<VersionsStorage, "versions">, path: string): Promise<readonly string[]> {
  const found = await versionsOf(storage, path);
  return Promise.all(found.map(async ({ id }) => bodyText((await storage.versions.read(path, id)).body)));
}
