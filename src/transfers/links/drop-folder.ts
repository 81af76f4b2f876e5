import { isStorageError, StorageError } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions } from "../../http/conditional.ts";
import { createError } from "../../http/errors.ts";
import type { AccountContext, LinkService, RequestLink } from "../../request/context.ts";
import { toFreeNames } from "./free-names.ts";

/**
 * Runs an upload to a drop folder with the path that it gets: its own one, or the next one that no file and no running
 * upload of this process has. Makes missing parents if the link may. The path is free for others when `act` ends.
 * @throws HttpError `denied` if the link or the account does not permit the upload, whatever is there.
 */
export async function withFreePath<T>(
  context: AccountContext,
  wanted: readonly string[],
  act: (path: readonly string[]) => Promise<T>,
): Promise<T> {
  const { files } = context;
  if (!(await files.may(wanted, "write"))) throw createError("denied");
  const folder = await makeParents(context, wanted.slice(0, -1));
  for (const name of toFreeNames(wanted.at(-1) ?? "", false)) {
    const path = [...folder, name];
    const release = requireService(context).names.reserve(files.realPathOf(path));
    if (release === undefined) continue;
    try {
      if (await isFree(context, path)) return await act(path);
    } finally {
      release();
    }
  }
  throw createTakenError();
}

/** How often another process may take the name first. */
const MAX_ATTEMPTS = 10;

/**
 * As {@link withFreePath}, for an upload that is kept: it tries again with the next name if another process takes the
 * name first.
 */
export async function withNewName<T>(
  context: AccountContext,
  wanted: readonly string[],
  act: (path: readonly string[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withFreePath(context, wanted, act);
    } catch (error) {
      if (!isStorageError(error) || error.code !== "precondition-failed") throw error;
      if (attempt === MAX_ATTEMPTS) throw createTakenError(error);
    }
  }
}

async function isFree({ files }: AccountContext, path: readonly string[]): Promise<boolean> {
  return !(await files.isTaken(path)) && (await files.may(path, "write"));
}

/**
 * Makes a folder in a drop folder, with its parents, as far as they are missing. If something else has the name of one
 * of them, the folder gets the next free one. Returns its path.
 * @throws HttpError `denied` if the link or the account does not permit it, whatever is there.
 */
export async function makeParents(context: AccountContext, wanted: readonly string[]): Promise<readonly string[]> {
  let folder: readonly string[] = [];
  for (const [index, name] of wanted.entries()) {
    if (!(await context.files.may(wanted.slice(0, index + 1), "create-folder"))) throw createError("denied");
    folder = await makeFolder(context, folder, name);
  }
  return folder;
}

async function makeFolder(
  context: AccountContext,
  parent: readonly string[],
  wanted: string,
): Promise<readonly string[]> {
  const { files } = context;
  const { inside } = requireLink(context);
  for (const name of toFreeNames(wanted, true)) {
    const path = [...parent, name];
    if ((await inside.kindOf(path)) === "folder") return path;
    if (await files.isTaken(path)) continue;
    try {
      await files.createFolderIfMissing(path);
      return path;
    } catch (error) {
      // Something else took the name meanwhile.
      if (!isStorageError(error) || error.code !== "already-exists") throw error;
    }
  }
  throw createTakenError();
}

/** Whether a request is by a link to a drop folder. */
export function isInDropFolder({ link }: Pick<AccountContext, "link">): boolean {
  return link?.isDropFolder === true;
}

/**
 * Checks the conditions of an upload to a drop folder: its file is new, whatever is there.
 * @throws StorageError `precondition-failed`, for `If-Match`
 */
export function requireNewFile({ request, config }: AccountContext): void {
  if (evaluatePreconditions(request, undefined, config.clock()) !== "met")
    throw new StorageError("precondition-failed");
}

/** What happens if another process takes a name at the same moment. The client may send the file again. */
export function createTakenError(cause?: unknown): Error {
  return createError("drop-name-taken", { headers: { "Retry-After": "1" }, cause });
}

function requireLink({ link }: AccountContext): RequestLink {
  if (link === undefined) throw createError("denied");
  return link;
}

function requireService({ links }: AccountContext): LinkService {
  if (links === undefined) throw createError("denied");
  return links;
}
