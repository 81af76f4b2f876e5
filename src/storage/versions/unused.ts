import { UNUSED_VERSIONS_FOLDER, VERSIONS_FOLDER } from "../area.ts";
import { makeFolders } from "../wrappers/folders.ts";
import { ignoreMissing, listIfFolder } from "../wrappers/list-folder.ts";
import { createTimedId, isTimedId, toTimeOfId } from "../wrappers/timed-ids.ts";
import type { VersionInternals } from "./internals.ts";
import { relocate } from "./relocate.ts";
import { walkVersions } from "./walk.ts";

/** How long a folder without members may be in use. */
const USE_MILLISECONDS = 3_600_000;

/**
 * Moves an empty folder away. A folder cannot be removed only if it is empty, and another process may be about to use
 * it: so {@link removeUnused} removes it an hour later, and moves back what has come into it meanwhile.
 */
export async function setAside({ storage, clock }: VersionInternals, folder: string): Promise<void> {
  if (folder === VERSIONS_FOLDER) return;
  const aside = `${UNUSED_VERSIONS_FOLDER}/${createTimedId(clock())}${folder.slice(VERSIONS_FOLDER.length)}`;
  await makeFolders(storage, aside.slice(0, aside.lastIndexOf("/")));
  await storage.move(folder, aside, { kind: "folder" }).catch(ignoreMissing);
}

/** Removes the folders that were moved away long ago. */
export async function removeUnused({ storage, clock }: VersionInternals, signal?: AbortSignal): Promise<undefined> {
  for await (const batch of listIfFolder(storage, UNUSED_VERSIONS_FOLDER)) {
    for (const { name } of batch) {
      signal?.throwIfAborted();
      if (!isTimedId(name) || clock() - toTimeOfId(name) < USE_MILLISECONDS) continue;
      const top = `${UNUSED_VERSIONS_FOLDER}/${name}`;
      for await (const { folder, versions } of walkVersions(storage, top)) {
        if (versions.length === 0) continue;
        const back = `${VERSIONS_FOLDER}${folder.slice(top.length)}`;
        await relocate(storage, { folder, members: "file" }, { folder: back, members: "file" });
      }
      await storage.remove(top, { kind: "folder", permanent: true }).catch(ignoreMissing);
    }
  }
}
