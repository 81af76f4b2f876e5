import type { AccountFiles } from "../../account/files.ts";
import { toBatches } from "../../contracts/member-batches.ts";
import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { isHttpError } from "../../http/http-error.ts";

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
  files: Pick<AccountFiles, "list">,
  top: readonly string[],
  isDeep: boolean,
): AsyncGenerator<MemberBatch> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    try {
      for await (const members of toBatches(files.list(folder, undefined, isDeep ? "long" : "short"))) {
        if (isDeep) waiting.push(...foldersIn(folder, members));
        yield { folder, members };
      }
    } catch (error) {
      if (folder === top || !isLeftOut(error)) throw error;
    }
  }
}

function foldersIn(folder: readonly string[], members: readonly StorageEntry[]): readonly (readonly string[])[] {
  return members.filter(({ kind }) => kind === "folder").map(({ name }) => [...folder, name]);
}

function isLeftOut(error: unknown): boolean {
  return isHttpError(error) ? error.failure === "denied" : hasCode(error, "not-found");
}
