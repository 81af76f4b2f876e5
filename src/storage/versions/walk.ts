import type { StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { VERSIONS_FOLDER } from "../area.ts";
import { listIfFolder } from "../wrappers/list-folder.ts";
import { mayHaveVersions } from "./places.ts";
import { isVersion } from "./stored.ts";

/** How many folders wait to be listed. The names in a folder with more folders wait in its open listing. */
const MAX_WAITING = 10_000;

/** A folder with versions of a file, or with nothing. */
export interface WalkedFolder {
  readonly folder: string;
  /** In any order. */
  readonly versions: readonly StorageEntry[];
}

/** Yields all folders that have versions or nothing, from a folder of the area on. */
export async function* walkVersions(storage: StorageAdapter, top = VERSIONS_FOLDER): AsyncGenerator<WalkedFolder> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const versions: StorageEntry[] = [];
    let isEmpty = true;
    for await (const batch of listIfFolder(storage, folder)) {
      isEmpty &&= batch.length === 0;
      if (mayHaveVersions(folder)) versions.push(...batch.filter(isVersion));
      for (const path of toFolders(folder, batch)) {
        // A folder has as many folders of versions as it has had files. They do not wait.
        if (mayHaveVersions(path) || waiting.length >= MAX_WAITING) yield* walkVersions(storage, path);
        else waiting.push(path);
      }
    }
    if (versions.length > 0 || isEmpty) yield { folder, versions };
  }
}

function toFolders(folder: string, members: readonly StorageEntry[]): readonly string[] {
  return members.filter(({ kind }) => kind === "folder").map(({ name }) => `${folder}/${name}`);
}
