import type { LockDepth, LockScope } from "../../contracts/lock.ts";
import { isPrefix } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import type { VirtualFolder } from "../account.ts";
import type { FileAttributes } from "../file-attributes.ts";
import { isReserved, type ResourcePath } from "../path.ts";
import { appliesTo, type RootedLock } from "./lock.ts";
import { LockError } from "./lock-error.ts";
import { type LockHolder, requireUnlocked, toNamedRoots, toShownRoot } from "./lock-guard.ts";

/** A lock as an account may see it. */
export interface AccountLock {
  /** `undefined` for a lock of another account. */
  readonly token: string | undefined;
  readonly scope: LockScope;
  readonly depth: LockDepth;
  /** What the client gave as its owner, as XML. Empty if it gave nothing. */
  readonly owner: string;
  /** Until it ends. */
  readonly seconds: number;
  /** The locked file or folder. */
  readonly root: ResourcePath;
}

/** The lock that a client asks for. */
export interface NewLock {
  readonly scope: LockScope;
  /** `infinity` locks everything in a folder, too. */
  readonly depth: LockDepth;
  readonly owner: string;
  readonly seconds: number;
  /** What is at the path; a file if there is nothing yet. */
  readonly isFolder: boolean;
}

/**
 * Write locks on files and folders (RFC 4918 6). A part of `AccountFiles`. Accounts that share a folder see each
 * other's locks. A lock protects from all accounts, and from its own account if a request does not submit its token:
 * changes are then HttpError `locked`. All methods throw HttpError `unavailable` if the store of locks fails.
 */
export interface AccountLocks {
  /**
   * Submits the tokens of a request, which may now change what its account has locked. `check` is called right before
   * its first change, and rejects if what the request requires no longer holds: its body may have taken long.
   */
  submitTokens(tokens: readonly string[], check?: () => Promise<void>): void;
  /**
   * Locks a path, whether something exists there or not, and submits the token. The account needs `write`.
   * @throws LockError `no-conflicting-lock`; HttpError `no-space` for too many locks, and `denied` for everything in a
   * folder with a virtual folder in it.
   */
  lock(segments: readonly string[], lock: NewLock): Promise<AccountLock>;
  /** Gives a lock of the account a new end. Returns `undefined` if no lock with this token applies to the path. */
  refreshLock(segments: readonly string[], token: string, seconds: number): Promise<AccountLock | undefined>;
  /**
   * Ends a lock. The account needs `write` where the lock is rooted.
   * @throws LockError `lock-token-matches-request-uri` if no lock with this token applies to the path; HttpError
   * `denied` if it belongs to another account.
   */
  unlock(segments: readonly string[], token: string): Promise<AccountLock>;
  /** The locks that apply to a path. Checks no permission. */
  locksOf(segments: readonly string[]): Promise<readonly AccountLock[]>;
  /** Returns a function that returns the locks that apply to a member of a folder. Checks no permission. */
  locksOfMembers(folder: readonly string[]): Promise<(name: string) => readonly AccountLock[]>;
  /** The tokens of all locks that apply to a path, also those of other accounts. They are secrets. */
  tokensOf(segments: readonly string[]): Promise<readonly string[]>;
  /**
   * Checks that a change of a file or folder is possible, for requests that end up changing nothing.
   * @throws LockError `lock-token-submitted`
   */
  requireUnlocked(segments: readonly string[]): Promise<void>;
}

/** What a request has submitted. */
export interface Submitted {
  readonly submitted: Set<string>;
  /** Called once, before the first change. */
  check?: (() => Promise<void>) | undefined;
}

/** The number of levels of a path that can be locked. Each of them has a record. */
const MAX_LEVELS = 100;
/** The number of locks that a listing shows of a member. */
const MAX_LISTED = 10;

/** Creates the locks of an account's files. `submitted` are the tokens of the request, to which they add. */
export function createAccountLocks(
  holder: LockHolder & Submitted,
  { may }: Pick<FileAttributes, "may">,
  virtualFolders: readonly VirtualFolder[],
): AccountLocks {
  const { locks, account, until = Number.POSITIVE_INFINITY, submitted, toReal } = holder;

  function toEnd(seconds: number): number {
    return Math.min(locks.clock() + 1000 * seconds, until);
  }

  function toAccountLock(path: readonly string[], lock: RootedLock): AccountLock {
    const { scope, depth, owner, token, ends } = lock;
    const seconds = Math.max(0, Math.ceil((ends - locks.clock()) / 1000));
    const root = toShownRoot(holder, path, lock);
    return { token: lock.account === account ? token : undefined, scope, depth, owner, seconds, root };
  }

  async function findApplying(path: readonly string[]): Promise<readonly RootedLock[]> {
    if (isReserved(path)) return [];
    const real = toReal(path);
    return (await locks.locksAround(real)).filter((lock) => appliesTo(lock, real));
  }

  function submitTokens(tokens: readonly string[], check = holder.check): void {
    for (const token of tokens) submitted.add(token);
    holder.check = check;
  }

  async function lock(
    path: readonly string[],
    { scope, depth, owner, seconds, isFolder }: NewLock,
  ): Promise<AccountLock> {
    if (isReserved(path)) throw createError("name-reserved");
    if (!(await may(path, "write"))) throw createError("denied");
    if (depth === "infinity" && virtualFolders.some(({ virtual }) => isBelow(virtual, path))) {
      throw createError("lock-over-virtual-folder");
    }
    const root = toReal(path);
    if (root.length > MAX_LEVELS) throw createError("lock-too-deep", { values: { max: MAX_LEVELS } });
    const name = root.at(-1) ?? "";
    // RFC 4918 C. It cannot be guessed.
    const token = `opaquelocktoken:${crypto.randomUUID()}`;
    const ends = toEnd(seconds);
    const rooted: RootedLock = { token, name, isFolder, scope, depth, owner, account, ends, root };
    const conflicts = await locks.take(rooted);
    if (conflicts.length > 0) {
      throw new LockError("no-conflicting-lock", await toNamedRoots(holder, path, conflicts));
    }
    submitTokens([token]);
    return toAccountLock(path, rooted);
  }

  /** A lock reaches further than what an API key of its account is for: the permission at its root counts. */
  async function requireOwn(path: readonly string[], found: RootedLock): Promise<void> {
    if (!(await may(toShownRoot(holder, path, found).segments, "write"))) throw createError("denied");
  }

  async function refreshLock(
    path: readonly string[],
    token: string,
    seconds: number,
  ): Promise<AccountLock | undefined> {
    if (!(await may(path, "write"))) throw createError("denied");
    const found = (await findApplying(path)).find((one) => one.token === token && one.account === account);
    if (found === undefined) return undefined;
    await requireOwn(path, found);
    const extended = { ...found, ends: toEnd(seconds) };
    return (await locks.extend(extended)) ? toAccountLock(path, extended) : undefined;
  }

  async function unlock(path: readonly string[], token: string): Promise<AccountLock> {
    const found = (await findApplying(path)).find((one) => one.token === token);
    if (found === undefined) throw new LockError("lock-token-matches-request-uri");
    if (found.account !== account) throw createError("lock-of-other");
    await requireOwn(path, found);
    await locks.end([found]);
    return toAccountLock(path, found);
  }

  async function locksOf(path: readonly string[]): Promise<readonly AccountLock[]> {
    return (await findApplying(path)).map((found) => toAccountLock(path, found));
  }

  async function locksOfMembers(folder: readonly string[]): Promise<(name: string) => readonly AccountLock[]> {
    const real = toReal(folder);
    const [around, inside] = await Promise.all([locks.locksAround(real), locks.locksIn(real)]);
    // What the client gave as owner is shown with the locked folder only: a listing repeats the lock for each member.
    const inherited = around.filter((one) => one.depth === "infinity").map((one) => ({ ...one, owner: "" }));
    const own = new Map<string, RootedLock[]>();
    for (const one of inside) own.set(one.name, [...(own.get(one.name) ?? []), one]);
    const ofVirtual = new Map<string, readonly AccountLock[]>();
    for (const { virtual } of virtualFolders) {
      const name = virtual[folder.length] ?? "";
      const isMember = virtual.length === folder.length + 1 && isBelow(virtual, folder);
      if (isMember) ofVirtual.set(name, await locksOf(virtual));
    }
    return (name) => {
      const virtual = ofVirtual.get(name);
      if (virtual !== undefined) return virtual;
      const found = [...(own.get(name) ?? []), ...inherited].slice(0, MAX_LISTED);
      return found.map((one) => toAccountLock([...folder, name], one));
    };
  }

  async function tokensOf(path: readonly string[]): Promise<readonly string[]> {
    return (await findApplying(path)).map(({ token }) => token);
  }

  return {
    submitTokens,
    lock,
    refreshLock,
    unlock,
    locksOf,
    locksOfMembers,
    tokensOf,
    requireUnlocked: async (path) => void (await requireUnlocked(holder, [{ path }])),
  };
}

function isBelow(path: readonly string[], folder: readonly string[]): boolean {
  return path.length > folder.length && isPrefix(folder, path);
}

/** The locks of a service that has none. */
export const NO_ACCOUNT_LOCKS: AccountLocks = {
  submitTokens: () => undefined,
  lock: async () => {
    throw createError("method-not-implemented");
  },
  refreshLock: async () => undefined,
  unlock: async () => {
    throw createError("method-not-implemented");
  },
  locksOf: async () => [],
  locksOfMembers: async () => () => [],
  tokensOf: async () => [],
  requireUnlocked: async () => undefined,
};
