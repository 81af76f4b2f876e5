import type { Operation } from "../contracts/account.ts";
import {
  type EntityTags,
  hasCode,
  type Placement,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../contracts/storage-adapter.ts";
import { foldPath, isPrefix } from "../contracts/storage-path.ts";
import { createError } from "../http/errors.ts";
import type { Account } from "./account.ts";
import { walkFolder } from "./folder-walk.ts";
import { isReserved, toStoragePath } from "./path.ts";
import type { RemovalCheck, TreeAccess } from "./removal-check.ts";
import { toRealSegments } from "./virtual-folders.ts";

/** Copies and moves. A part of `AccountFiles`. */
export interface FileTransfers {
  /**
   * Copies a file, or a folder with everything in it except symlinks. The account needs `read` for each file and `list`
   * for each folder; and at the new paths `write` for each file and `create-folder` for each folder. Throws HttpError
   * `too-large` for a file above the account's size limit.
   *
   * Both trees are checked before anything is copied. What is replaced is removed, so the account needs `delete-file`
   * and `delete-folder` for all of it. Errors of either path alone are HttpError `denied`: the root, one path in the
   * other, the reserved name, and a new path where a virtual folder is. Other errors are the storage's.
   */
  copy(from: readonly string[], to: readonly string[], options?: FileTransferOptions): Promise<Placement>;
  /** Moves a file or folder, like {@link copy}. The account needs `rename` for each old path and each new one. */
  move(from: readonly string[], to: readonly string[], options?: FileTransferOptions): Promise<Placement>;
}

/** The options of a copy or a move. */
export interface FileTransferOptions {
  /** Replace what is at the new path. Default: false, and anything there is `already-exists`. */
  readonly replace?: boolean;
  /** Only a file with one of these strong entity-tags (RFC 9110 13.1.1). */
  readonly ifMatch?: EntityTags;
  /** For `copy`: copy only the folder itself, with its properties. Default: false. */
  readonly withoutMembers?: boolean;
  readonly signal?: AbortSignal;
  /** Called before anything changes, if content has to be read here. What it throws ends the work. */
  readonly onRead?: () => void;
  /**
   * Called before anything changes, with the number of files that will be stored. What it throws ends the work. A file
   * that appears in a folder after that is copied or moved, but not counted.
   */
  readonly onFiles?: ((count: number) => Promise<void>) | undefined;
}

type Kind = "file" | "folder";

/** The operations that a copy or a move needs for a member, where it is and where it will be. */
const NEEDS = {
  copy: { file: ["read", "write"], folder: ["list", "create-folder"] },
  move: { file: ["rename", "rename"], folder: ["rename", "rename"] },
} as const satisfies Record<string, Record<Kind, readonly [from: Operation, to: Operation]>>;

/**
 * Runs the copy or the move of a folder when the account has not too many others. Moves wait for moves alone, because
 * most of them are a single step of the storage.
 */
export type LimitFolders = <T>(verb: Verb, task: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

type Verb = "copy" | "move";

/** Creates the copies and moves of an account. `maxFileBytes`: the largest file that it may copy. */
export function createCopyAndMove(
  { tree, permissions, require, withWalkLock, runStep }: TreeAccess,
  removals: RemovalCheck,
  account: Pick<Account, "home" | "virtualFolders" | "maxFileBytes">,
  limitFolders: LimitFolders,
): FileTransfers {
  const { maxFileBytes, virtualFolders } = account;

  function createVerb(verb: Verb): FileTransfers["copy"] {
    const needs = NEEDS[verb];
    const hasSizeLimit = verb === "copy" && maxFileBytes !== undefined;

    async function checkMember(
      kind: Kind,
      size: number,
      from: readonly string[],
      to: readonly string[],
    ): Promise<void> {
      await require(from, needs[kind][0]);
      await require(to, needs[kind][1]);
      if (hasSizeLimit && size > maxFileBytes) throw createError("too-large", { values: { max: maxFileBytes } });
    }

    function isAllAllowed(): boolean {
      const operations = [...needs.file, ...needs.folder];
      return !hasSizeLimit && operations.every((operation) => permissions.grantsEverywhere(operation));
    }

    /** Checks everything below a folder. `onFile`: called for each file. */
    async function checkTree(from: readonly string[], to: readonly string[], onFile?: () => void): Promise<void> {
      const isAllowed = isAllAllowed();
      if (isAllowed && onFile === undefined) return;
      for await (const { segments, kind, size } of walkFolder(tree, from, runStep, verb === "move")) {
        if (kind === "link" && verb === "copy") continue;
        if (kind === "file") onFile?.();
        if (!isAllowed) await checkMember(toKind(kind), size, segments, [...to, ...segments.slice(from.length)]);
      }
    }

    async function act(from: string, to: string, options: TransferOptions): Promise<Placement> {
      const run = () => tree[verb](from, to, options);
      return options.kind === "folder" ? limitFolders(verb, run, options.signal) : run();
    }

    /** Checks everything in a folder. Returns the number of files if they are counted. A file is one. */
    async function checkMembers(
      kind: Kind,
      from: readonly string[],
      to: readonly string[],
      isCounted: boolean,
    ): Promise<number> {
      if (kind === "file") return 1;
      let count = 0;
      const onFile = (): void => {
        count += 1;
      };
      await withWalkLock(() => checkTree(from, to, isCounted ? onFile : undefined));
      return count;
    }

    return async function copyOrMove(from, to, { replace = false, withoutMembers = false, onFiles, ...options } = {}) {
      requireSeparatePaths(from, to);
      const found = await find(from);
      const kind = toKind(found?.kind);
      await checkMember(kind, found?.size ?? 0, from, to);
      if (found === undefined || found.kind === "link") throw new StorageError("not-found");
      // Folders have no entity-tag.
      if (kind === "folder" && options.ifMatch !== undefined) throw new StorageError("precondition-failed");
      const replaced = await findReplaced(from, to, replace);
      const isAlone = withoutMembers && kind === "folder";
      const count = isAlone ? 0 : await checkMembers(kind, from, to, onFiles !== undefined);
      if (replaced !== undefined) await removals.requireForAll(to, replaced);
      await onFiles?.(count);
      if (isAlone) return copyFolderAlone(from, to, replaced);
      // The kind is passed on: if something else replaces the member now, it needs other permissions and must stay.
      return act(toStoragePath(from), toStoragePath(to), { ...options, replace, kind });
    };
  }

  async function find(segments: readonly string[]): Promise<StorageEntry | undefined> {
    return isReserved(segments) ? undefined : tree.stat(toStoragePath(segments));
  }

  /** Some disks ignore case, and find at a path what is to be moved there itself: the storage decides. */
  async function findReplaced(
    from: readonly string[],
    to: readonly string[],
    mayReplace: boolean,
  ): Promise<StorageEntry | undefined> {
    if (!mayReplace && foldPath(toStoragePath(from)) === foldPath(toStoragePath(to))) return undefined;
    const found = await find(to);
    if (found !== undefined && !mayReplace) throw new StorageError("already-exists");
    return found;
  }

  /** Creates a folder with the properties of another one. What is at the new path is removed first (RFC 4918 9.8.4). */
  async function copyFolderAlone(
    from: readonly string[],
    to: readonly string[],
    replaced: StorageEntry | undefined,
  ): Promise<Placement> {
    const [path, newPath] = [toStoragePath(from), toStoragePath(to)];
    const properties = await tree.attributes?.properties(path);
    if (replaced !== undefined) await tree.remove(newPath, { kind: toKind(replaced.kind) });
    await tree.createFolder(newPath);
    try {
      if (properties !== undefined && properties.size > 0) {
        await tree.attributes?.change(newPath, { properties }).catch(ignoreUnsupported);
      }
    } catch (error) {
      const takingBack = removals
        .requireEmpty(to)
        .then(() => tree.remove(newPath, { kind: "folder", permanent: true }));
      await takingBack.catch(() => undefined);
      throw error;
    }
    return replaced === undefined ? "created" : "replaced";
  }

  /**
   * Compares also the paths in the storage: virtual folders can lead to files that have another path, too. What is
   * replaced is removed, and with it a source in it.
   * @throws HttpError `denied` for the root, the reserved name, and a path that is in the other one or equal to it.
   */
  function requireSeparatePaths(from: readonly string[], to: readonly string[]): void {
    if (from.length === 0 || to.length === 0) throw createError("root-not-movable");
    if (isReserved(to)) throw createError("name-reserved");
    const target = toRealSegments(account, to);
    const sources = [
      from,
      ...virtualFolders.map(({ virtual }) => virtual).filter((virtual) => isPrefix(from, virtual)),
    ];
    const isOverlapping = sources.some((path) => overlaps(toRealSegments(account, path), target));
    if (isOverlapping || overlaps(from, to)) throw createError("paths-overlap");
  }

  return { copy: createVerb("copy"), move: createVerb("move") };
}

function ignoreUnsupported(error: unknown): void {
  if (!hasCode(error, "unsupported")) throw error;
}

/** A symlink counts as a file. */
function toKind(kind: StorageEntry["kind"] | undefined): Kind {
  return kind === "folder" ? "folder" : "file";
}

function overlaps(one: readonly string[], other: readonly string[]): boolean {
  return isPrefix(one, other) || isPrefix(other, one);
}
