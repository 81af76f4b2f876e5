import { type EntityTags, type Placement, type StorageEntry, StorageError } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { Account } from "./account.ts";
import { walkFolder } from "./folder-walk.ts";
import { isReserved, toStoragePath } from "./path.ts";
import type { Operation } from "./permissions.ts";
import type { RemovalCheck, TreeAccess } from "./removal-check.ts";
import { toRealRoots, toRealSegments } from "./virtual-folders.ts";

/** Copies and moves. A part of `AccountFiles`. */
export interface FileTransfers {
  /**
   * Copies a file, or a folder with everything in it except links. The account needs `read` for each file and `list`
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
  readonly signal?: AbortSignal;
  /** Copy only the folder itself with its properties, without its members. No effect on a file, and on a move. */
  readonly isAlone?: boolean;
}

type Kind = "file" | "folder";

/** The operations that a copy or a move needs for a member, where it is and where it will be. */
const NEEDS = {
  copy: { file: ["read", "write"], folder: ["list", "create-folder"] },
  move: { file: ["rename", "rename"], folder: ["rename", "rename"] },
} as const satisfies Record<string, Record<Kind, readonly [from: Operation, to: Operation]>>;

/** Creates the copies and moves of an account. */
export function createFileTransfers(
  { tree, permissions, require, inTurn, runStep }: TreeAccess,
  removals: RemovalCheck,
  account: Account,
): FileTransfers {
  const { maxFileBytes } = account;

  function createVerb(verb: "copy" | "move"): FileTransfers["copy"] {
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

    /** Checks everything below a folder. */
    async function checkTree(from: readonly string[], to: readonly string[]): Promise<void> {
      const operations = [...needs.file, ...needs.folder];
      if (!hasSizeLimit && operations.every((operation) => permissions.grantsEverywhere(operation))) return;
      for await (const { segments, kind, size } of walkFolder(tree, from, runStep)) {
        if (kind === "link" && verb === "copy") continue;
        await checkMember(toKind(kind), size, segments, [...to, ...segments.slice(from.length)]);
      }
    }

    return async function transfer(from, to, { replace = false, isAlone = false, ...options } = {}) {
      requireSeparatePaths(account, from, to);
      const found = await find(from);
      const kind = toKind(found?.kind);
      await checkMember(kind, found?.size ?? 0, from, to);
      if (found === undefined || found.kind === "link") throw new StorageError("not-found");
      if (kind === "folder" && options.ifMatch !== undefined) throw new StorageError("precondition-failed");
      const replaced = await requireReplaceable(to, replace);
      const isTree = kind === "folder" && !(isAlone && verb === "copy");
      if (isTree) await inTurn(() => checkTree(from, to));
      if (kind === "folder" && !isTree) return copyFolderAlone(toStoragePath(from), toStoragePath(to), replaced);
      // The kind is passed on: if something else replaces the member now, it needs other permissions and must stay.
      return tree[verb](toStoragePath(from), toStoragePath(to), { ...options, replace, kind });
    };
  }

  /** Returns what a copy or a move removes from its new path. */
  async function requireReplaceable(to: readonly string[], replace: boolean): Promise<StorageEntry | undefined> {
    const found = await find(to);
    if (found === undefined) return undefined;
    if (!replace) throw new StorageError("already-exists");
    await removals.requireForAll(to, found.kind === "folder");
    return found;
  }

  /** Removes what is replaced as late as possible: everything that can be judged has been judged. */
  async function copyFolderAlone(from: string, to: string, replaced: StorageEntry | undefined): Promise<Placement> {
    const properties = await tree.attributes?.properties(from);
    if (replaced !== undefined) await tree.remove(to, { kind: toKind(replaced.kind) });
    await tree.createFolder(to);
    try {
      if (properties !== undefined && properties.size > 0) await tree.attributes?.change(to, { properties });
    } catch (error) {
      await tree.remove(to, { kind: "folder" }).catch(() => undefined);
      throw error;
    }
    return replaced === undefined ? "created" : "replaced";
  }

  async function find(segments: readonly string[]): Promise<StorageEntry | undefined> {
    return isReserved(segments) ? undefined : tree.stat(toStoragePath(segments));
  }

  return { copy: createVerb("copy"), move: createVerb("move") };
}

/** A link counts as a file. */
function toKind(kind: StorageEntry["kind"] | undefined): Kind {
  return kind === "folder" ? "folder" : "file";
}

/**
 * An attack, and an accident: a virtual folder may show what the account also sees elsewhere. A copy into its own
 * source would never end, and what a move replaces could be its source.
 * @throws HttpError `denied` for the root, the reserved name, and a path that is in the other one or equal to it, as the
 *   account sees them or in the storage.
 */
function requireSeparatePaths(account: Account, from: readonly string[], to: readonly string[]): void {
  if (from.length === 0 || to.length === 0) throw createError("root-not-movable");
  if (isReserved(to)) throw createError("name-reserved");
  const target = toRealSegments(account, to);
  if (overlap(from, to) || toRealRoots(account, from).some((source) => overlap(source, target))) {
    throw createError("paths-overlap");
  }
}

function overlap(one: readonly string[], other: readonly string[]): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  return shorter.every((name, index) => name === longer[index]);
}
