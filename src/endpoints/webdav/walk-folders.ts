import { toBatches } from "../../contracts/member-batches.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import type { AccountContext } from "../../request/context.ts";
import { isOfFolderAlone } from "../folders/unlisted-folder.ts";

/** Members of a folder. */
interface MemberBatch {
  readonly folder: readonly string[];
  readonly members: readonly StorageEntry[];
}

/**
 * Yields the members of a folder, and with `isDeep` those of all folders in it, one folder after the other. Folders in
 * it that cannot be listed, or that were removed meanwhile, have no members.
 * @throws what listing the folder itself throws.
 */
export async function* walkFolders(
  context: Pick<AccountContext, "files" | "report">,
  top: readonly string[],
  isDeep: boolean,
): AsyncGenerator<MemberBatch> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const members of toBatches(context.files.list(folder, undefined, isDeep ? "long" : "short"))) {
        if (isDeep) waiting.push(...foldersIn(folder, members));
        yield { folder, members };
      }
    } catch (error) {
      if (folder === top || !isOfFolderAlone(error, context)) throw error;
    }
  }
}

function foldersIn(folder: readonly string[], members: readonly StorageEntry[]): readonly (readonly string[])[] {
  return members.filter(({ kind }) => kind === "folder").map(({ name }) => [...folder, name]);
}
