import { isPrefix } from "../../contracts/storage-path.ts";
import type { ResourcePath } from "../path.ts";
import { appliesTo, type RootedLock } from "./lock.ts";
import { LockError } from "./lock-error.ts";
import type { Locks } from "./locks.ts";

/** The number of locked files and folders that a refusal names. RFC 4918 needs one. */
const MAX_SHOWN = 100;

/** A change of a file or folder, and what else locks must allow. */
export interface PathChange {
  /** A path of the account. */
  readonly path: readonly string[];
  /** Whether the change adds or removes this name, so that locks on the folder around count. Default: it does not. */
  readonly changesFolder?: boolean | (() => Promise<boolean>);
  /** Whether everything in the folder is changed, too. Default: it is not. */
  readonly isTree?: boolean;
}

/** The account whose locks count, and what a check of them needs. */
export interface LockHolder {
  readonly locks: Locks;
  /** The identity of the account. */
  readonly account: string;
  /** When its new locks end at the latest, in milliseconds. Absent: they last as long as the client asks for. */
  readonly until?: number;
  /** The tokens that the request has submitted. */
  readonly submitted: ReadonlySet<string>;
  /** The segments of the storage's path for a path of the account. */
  readonly toReal: (path: readonly string[]) => readonly string[];
  /** Whether the account may list a folder. */
  readonly mayList: (folder: readonly string[]) => Promise<boolean>;
}

/**
 * Checks changes (RFC 4918 7). Each locked file and folder needs one lock of the account whose token was submitted.
 * Returns the locks at and below the path of each change of a tree.
 * @throws LockError `lock-token-submitted` with what is locked.
 */
export async function requireUnlocked(
  holder: LockHolder,
  changes: readonly PathChange[],
): Promise<readonly (readonly RootedLock[])[]> {
  const found = await Promise.all(changes.map((change) => findLocks(holder, change)));
  const blocking = found.flatMap((one) => one.blocking);
  if (blocking.length > 0) throw new LockError("lock-token-submitted", withoutRepeats(blocking).slice(0, MAX_SHOWN));
  return found.map(({ inTree }) => inTree);
}

/** What locks mean for a change: the paths that forbid it, and all locks in its tree. */
interface FoundLocks {
  readonly blocking: readonly ResourcePath[];
  readonly inTree: readonly RootedLock[];
}

async function findLocks(holder: LockHolder, change: PathChange): Promise<FoundLocks> {
  const { locks, toReal } = holder;
  const { path, changesFolder = false, isTree = false } = change;
  const real = toReal(path);
  const allAround = await locks.stored.locksAround(real);
  const around = await locks.onlyValid(allAround);
  const found = [...toBlocking(holder, around, real)];
  const onFolder = real.length > 0 ? toBlocking(holder, around, real.slice(0, -1)) : [];
  if (onFolder.length > 0 && (await toBoolean(changesFolder))) found.push(...onFolder);
  const below = isTree ? await locks.stored.locksBelow(real) : [];
  found.push(...findBlockingBelow(holder, around, await locks.onlyValid(below), real));
  const inTree = [...allAround.filter(({ root }) => root.length === real.length), ...below];
  return { blocking: await toNamedRoots(holder, path, found), inTree };
}

/** The locks below a folder that forbid its change. Each locked path is checked once, with the locks around it. */
function findBlockingBelow(
  holder: LockHolder,
  around: readonly RootedLock[],
  below: readonly RootedLock[],
  top: readonly string[],
): readonly RootedLock[] {
  const toKey = (path: readonly string[]): string => path.join("/");
  const byRoot = new Map<string, RootedLock[]>();
  for (const lock of below) {
    const known = byRoot.get(toKey(lock.root));
    if (known === undefined) byRoot.set(toKey(lock.root), [lock]);
    else known.push(lock);
  }
  return [...byRoot.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { root } = first;
    const between = root.slice(top.length, -1).map((_, index) => toKey(root.slice(0, top.length + index + 1)));
    return toBlocking(holder, [...around, ...between.flatMap((key) => byRoot.get(key) ?? []), first, ...others], root);
  });
}

/** The locks that apply to a path, unless one of them allows the change. */
function toBlocking(
  { account, submitted }: LockHolder,
  locks: readonly RootedLock[],
  real: readonly string[],
): readonly RootedLock[] {
  const applying = locks.filter((lock) => appliesTo(lock, real));
  const isAllowed = applying.some((lock) => lock.account === account && submitted.has(lock.token));
  return isAllowed ? [] : applying;
}

async function toBoolean(value: boolean | (() => Promise<boolean>)): Promise<boolean> {
  return typeof value === "boolean" ? value : value();
}

/**
 * Where the account sees the root of a lock that was found at, around or below a path. A root outside of what the
 * account sees counts as the folder nearest to it.
 */
export function toShownRoot(
  { toReal }: Pick<LockHolder, "toReal">,
  path: readonly string[],
  { root, isFolder }: RootedLock,
): ResourcePath {
  const real = toReal(path);
  if (root.length > real.length) return { segments: [...path, ...root.slice(real.length)], isFolder };
  let segments = path;
  while (segments.length > 0 && toReal(segments).length > root.length) {
    const parent = segments.slice(0, -1);
    if (!isPrefix(root, toReal(parent))) break;
    segments = parent;
  }
  return { segments, isFolder: isFolder || segments.length < path.length };
}

/**
 * The paths that a refusal names for locks that were found at, around or below a path. Names in a folder that the
 * account may not list are secret: the refusal names that folder.
 */
export async function toNamedRoots(
  holder: Pick<LockHolder, "toReal" | "mayList">,
  path: readonly string[],
  locks: readonly RootedLock[],
): Promise<readonly ResourcePath[]> {
  const roots = withoutRepeats(locks.map((lock) => toShownRoot(holder, path, lock))).slice(0, MAX_SHOWN);
  const named = roots.map(async (root) => {
    for (let length = path.length; length < root.segments.length; length += 1) {
      const folder = root.segments.slice(0, length);
      if (!(await holder.mayList(folder))) return { segments: folder, isFolder: true };
    }
    return root;
  });
  return withoutRepeats(await Promise.all(named));
}

function withoutRepeats(paths: readonly ResourcePath[]): readonly ResourcePath[] {
  return [...new Map(paths.map((path) => [JSON.stringify(path.segments), path])).values()];
}
