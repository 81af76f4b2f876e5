import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { AccountContext } from "../../request/context.ts";
import { isInDropFolder, makeDropped } from "../../transfers/links/drop-folder.ts";

/**
 * Creates a folder. In a drop folder, missing parents are created, and an existing folder is a success, so that nothing
 * reveals what is there (SHARING 6.3).
 */
export async function makeFolder(context: AccountContext, segments: readonly string[]): Promise<void> {
  if (isInDropFolder(context)) await makeDropped(context, segments);
  else await context.files.createFolder(segments);
}

/**
 * Checks that the folder of a request is there. In a drop folder, whether one below the root is there is a secret, and
 * those that are missing are made later.
 * @throws StorageError `not-found`; HttpError `denied`
 */
export async function requireFolder(context: AccountContext): Promise<void> {
  const { files, path, account } = context;
  if (isInDropFolder(context) && path.segments.length > 0) {
    if (!account.permissions.grantsSomewhere("create-folder")) throw createError("denied");
  } else if ((await files.kindOf(path.segments)) !== "folder") throw new StorageError("not-found");
}
