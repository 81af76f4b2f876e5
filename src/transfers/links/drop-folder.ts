import { LockError } from "../../account/locks/lock-error.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions } from "../../http/conditional.ts";
import { createError, createRetryError } from "../../http/errors.ts";
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
  const names = [...toFreeNames(wanted.at(-1) ?? "", false)];
  await requireNames(context, wanted, names);
  const folder = await makeParents(context, wanted.slice(0, -1));
  for (const name of names) {
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

/**
 * Checks that the account may write a file by every name that it may get. If its rules allowed its own name only, a
 * refusal would reveal that this name is taken.
 * @throws HttpError `denied`
 */
export async function requireNames(
  { files, account }: AccountContext,
  wanted: readonly string[],
  names: Iterable<string> = toFreeNames(wanted.at(-1) ?? "", false),
): Promise<void> {
  const folder = wanted.slice(0, -1);
  const isRuled = !account.permissions.grantsEverywhere("write");
  const paths = isRuled ? [...[...names].map((name) => [...folder, name]), ...withRenamedFolders(wanted)] : [wanted];
  for (const path of paths) if (!(await files.may(path, "write"))) throw createError("denied");
}

/** The path in each of the folders that it is in if one of them has another name: the first one that is tried. */
function* withRenamedFolders(wanted: readonly string[]): Generator<readonly string[]> {
  for (const index of wanted.keys()) {
    if (index < wanted.length - 1) yield withNextName(wanted, index);
  }
}

function withNextName(path: readonly string[], index: number): readonly string[] {
  const [own = "", next = own] = toFreeNames(path[index] ?? "", true);
  return path.with(index, next);
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
      if (!hasCode(error, "precondition-failed")) throw error;
      if (attempt === MAX_ATTEMPTS) throw createTakenError(error);
    }
  }
}

async function isFree({ files }: AccountContext, path: readonly string[]): Promise<boolean> {
  return !(await files.isTaken(path)) && (await files.may(path, "write"));
}

/**
 * Makes the folders around something in a drop folder, as far as they are missing. If something else has the name of
 * one of them, or if it is locked, the folder gets the next free one. Returns the path of the innermost.
 * @throws HttpError `denied` if the link or the account does not permit it, whatever is there; LockError if the root is
 * locked, also if nothing is to be made in it: this would tell that a folder is there.
 */
export async function makeParents(context: AccountContext, wanted: readonly string[]): Promise<readonly string[]> {
  await requireFolders(context, wanted);
  let folder: readonly string[] = [];
  for (const name of wanted) folder = await makeFolder(context, folder, name, isOpen);
  return folder;
}

/**
 * Makes a folder in a drop folder, with its parents. One that is there is not changed.
 * @throws what {@link makeParents} throws.
 */
export async function makeDropped(context: AccountContext, wanted: readonly string[]): Promise<void> {
  await requireFolders(context, wanted);
  const parent = await makeParents(context, wanted.slice(0, -1));
  await makeFolder(context, parent, wanted.at(-1) ?? "", async () => true);
}

async function requireFolders(context: AccountContext, wanted: readonly string[]): Promise<void> {
  const { files, account } = context;
  if (wanted.length === 0) return;
  const isRuled = !account.permissions.grantsEverywhere("create-folder");
  for (const index of wanted.keys()) {
    const path = wanted.slice(0, index + 1);
    for (const one of isRuled ? [path, withNextName(path, index)] : [path]) {
      if (!(await files.may(one, "create-folder"))) throw createError("denied");
    }
  }
  await requireLink(context).inside.requireUnlocked([]);
}

/** Whether no lock keeps new members out of a folder. */
async function isOpen(context: AccountContext, folder: readonly string[]): Promise<boolean> {
  try {
    await requireLink(context).inside.requireUnlocked(folder);
    return true;
  } catch (error) {
    if (error instanceof LockError) return false;
    throw error;
  }
}

async function makeFolder(
  context: AccountContext,
  parent: readonly string[],
  wanted: string,
  isUsable: (context: AccountContext, folder: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  const { files } = context;
  const { inside } = requireLink(context);
  for (const name of toFreeNames(wanted, true)) {
    const path = [...parent, name];
    if ((await inside.kindOf(path)) === "folder" && (await isUsable(context, path))) return path;
    if (await files.isTaken(path)) continue;
    try {
      await files.createFolderIfMissing(path);
      return path;
    } catch (error) {
      // Something else took the name meanwhile.
      if (!hasCode(error, "already-exists")) throw error;
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
  return createRetryError("drop-name-taken", cause);
}

function requireLink({ link }: AccountContext): RequestLink {
  if (link === undefined) throw createError("denied");
  return link;
}

function requireService({ links }: AccountContext): LinkService {
  if (links === undefined) throw createError("denied");
  return links;
}
