import type { FileVersion, Versions, VersionsFailure } from "../../contracts/kept/versions.ts";
import { type StorageAdapter, StorageError } from "../../contracts/storage-adapter.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { toFileContent } from "../file-content.ts";
import type { ReportListeners } from "../wrappers/report-listeners.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";
import type { VersionInternals } from "./internals.ts";
import { toVersionsFolder } from "./places.ts";
import { isVersioned } from "./replacement.ts";
import { findNewest, isLeftover, isVersion, isVersionTooOld, removeVersion, toFileVersion } from "./stored.ts";
import { sweepVersions } from "./sweep.ts";

/** Creates the versions of a storage. `write`: that of the storage with versions. */
export function createVersions(
  internals: VersionInternals,
  write: StorageAdapter["write"],
  watch: ReportListeners<VersionsFailure>["watch"],
): Versions {
  const { storage, keep } = internals;

  /** Returns the folder of the versions of a file, if an ID may be one. Only such a text becomes a part of a path. */
  function locate(path: string, id: string): string | undefined {
    toPathSegments(path);
    const isPossible = isVersioned(path) && isTimedId(id) && !isVersionTooOld(internals, id);
    return isPossible ? toVersionsFolder(path) : undefined;
  }

  async function* list(path: string): AsyncGenerator<FileVersion> {
    toPathSegments(path);
    if (!isVersioned(path)) return;
    const found = await findNewest(internals, toVersionsFolder(path), keep + 1);
    const [newest] = found;
    if (newest === undefined) return;
    const isExtra = await isLeftover(internals, path, newest, await storage.stat(path));
    const versions = isExtra ? found.slice(1) : found.slice(0, keep);
    for (const version of versions) if (!isVersionTooOld(internals, version.name)) yield toFileVersion(version);
  }

  async function find(path: string, id: string): Promise<FileVersion | undefined> {
    const folder = locate(path, id);
    const found = folder === undefined ? undefined : await storage.stat(`${folder}/${id}`);
    return found !== undefined && isVersion(found) ? toFileVersion(found) : undefined;
  }

  async function read(...[path, id, range]: Parameters<Versions["read"]>): ReturnType<Versions["read"]> {
    const folder = locate(path, id);
    if (folder === undefined) throw new StorageError("not-found");
    return storage.read(`${folder}/${id}`, range);
  }

  async function restore(...[path, id, options]: Parameters<Versions["restore"]>): ReturnType<Versions["restore"]> {
    const file = await read(path, id);
    const content = toFileContent(file);
    try {
      return await write(path, content.chunks(), { ...options, size: file.entry.size });
    } finally {
      await content.close();
    }
  }

  async function purge(path: string, id: string): Promise<boolean> {
    const folder = locate(path, id);
    return folder !== undefined && removeVersion(internals, folder, id);
  }

  return { list, find, read, restore, purge, sweep: ({ signal } = {}) => sweepVersions(internals, signal), watch };
}
