import type { Placement, StorageAdapter, StorageEntry, TransferOptions } from "../../contracts/storage-adapter.ts";
import { checkSeparatePaths, isOfKind, meetsConditions } from "../conditions.ts";
import { tryCaseChange } from "../wrappers/case-change.ts";
import { toTrashedVersions } from "../wrappers/records.ts";
import { haveSameBytes } from "./compare.ts";
import type { VersionInternals } from "./internals.ts";
import { type MoveRecord, runMove } from "./moves.ts";
import { dropVersions, hasMembers, idsAt, toVersionsPlace } from "./relocate.ts";
import { createFileReplacement, isVersioned, runFileReplacement } from "./replacement.ts";

/** Creates `copy` of a storage with versions. */
export function createVersionsCopy(internals: VersionInternals): StorageAdapter["copy"] {
  const { storage } = internals;
  return async (from, to, options = {}) => {
    const mayReplace = options.replace === true && isVersioned(from) && isVersioned(to);
    if (!mayReplace) return storage.copy(from, to, options);
    return replaceBy(internals, from, to, options, [to], async (dropReplaced) => {
      const placement = await storage.copy(from, to, options);
      await dropReplaced();
      return placement;
    });
  };
}

/** Creates `move` of a storage with versions, which go along: also to the trash of a wrapper around it, and back. */
export function createVersionsMove(internals: VersionInternals): StorageAdapter["move"] {
  const { storage, mutex } = internals;

  async function moveOverNothing(from: string, to: string, options: TransferOptions): Promise<Placement> {
    const unlock = await mutex.lock([from, to]);
    try {
      return await moveWithVersions(internals, from, to, options);
    } finally {
      unlock();
    }
  }

  return async (from, to, options = {}) => {
    if (from === "/" || to === "/") return storage.move(from, to, options);
    const isToTrash = isVersioned(from) && toTrashedVersions(to) !== undefined;
    const isFromTrash = isVersioned(to) && toTrashedVersions(from) !== undefined;
    if (isToTrash || isFromTrash) return moveOverNothing(from, to, options);
    if (!isVersioned(from) || !isVersioned(to)) return storage.move(from, to, options);
    if (options.replace !== true) return moveOverNothing(from, to, options);
    checkSeparatePaths(from, to);
    if (await tryCaseChange({ move: moveOverNothing }, from, to, options)) return "created";
    return replaceBy(internals, from, to, options, [from, to], (dropReplaced) =>
      moveWithVersions(internals, from, to, options, dropReplaced),
    );
  };
}

/** Creates `remove` of a storage with versions. The versions are removed for good. */
export function createVersionsRemove(internals: VersionInternals): StorageAdapter["remove"] {
  const { storage, mutex } = internals;

  async function removeWithVersions(...[path, options]: Parameters<StorageAdapter["remove"]>): Promise<void> {
    const entry = await storage.stat(path);
    const kind = entry?.kind === "link" ? undefined : entry?.kind;
    const place = kind && toVersionsPlace(path, kind);
    const action = (): Promise<void> => storage.remove(path, options);
    if (kind === undefined || place === undefined || !(await hasMembers(storage, place))) return action();
    return runMove(internals, { from: path, kind, versionsFollow: true }, action);
  }

  return async (path, options) => {
    if (!isVersioned(path)) return storage.remove(path, options);
    const unlock = await mutex.lock([path]);
    try {
      return await removeWithVersions(path, options);
    } finally {
      unlock();
    }
  };
}

async function moveWithVersions(
  internals: VersionInternals,
  from: string,
  to: string,
  options: TransferOptions,
  dropReplaced: () => Promise<void> = async () => undefined,
): Promise<Placement> {
  const { storage } = internals;
  checkSeparatePaths(from, to);
  const move = async (): Promise<Placement> => {
    const placement = await storage.move(from, to, options);
    await dropReplaced();
    return placement;
  };
  const source = await storage.stat(from);
  const record = source && mayBeMoved(source, options) ? await toMoveRecord(internals, from, to, source) : undefined;
  if (record === undefined) return move();
  // After a crash a sweep ends a move that has a record, so none of those that are refused may have one.
  const isPossible = options.replace === true || (await storage.stat(to)) === undefined;
  return isPossible ? runMove(internals, record, move) : move();
}

/** Returns the record of a move; `undefined` if there are no versions to take along. */
async function toMoveRecord(
  { storage }: VersionInternals,
  from: string,
  to: string,
  { kind, etag }: StorageEntry,
): Promise<MoveRecord | undefined> {
  if (kind === "link") return undefined;
  const [here, there] = [toVersionsPlace(from, kind), toVersionsPlace(to, kind)];
  if (here === undefined || there === undefined || !(await hasMembers(storage, here))) return undefined;
  // An entry of the trash without its data is removed by a sweep, so nothing goes there before the data.
  const versionsFollow =
    toTrashedVersions(to) !== undefined || (kind === "folder" && (await hasMembers(storage, there)));
  const ids = kind === "file" ? await idsAt(storage, here) : undefined;
  return {
    from,
    to,
    kind,
    ...(etag !== undefined && { etag }),
    ...(ids && { ids }),
    ...(versionsFollow && { versionsFollow }),
  };
}

/**
 * Runs a copy or a move that may replace something. The content of a file that it replaces is kept before; the versions
 * of the files in a folder go for good.
 */
async function replaceBy(
  internals: VersionInternals,
  from: string,
  to: string,
  options: TransferOptions,
  paths: readonly string[],
  copyOrMove: (dropReplaced: () => Promise<void>) => Promise<Placement>,
): Promise<Placement> {
  const { storage } = internals;
  checkSeparatePaths(from, to);
  const replacement = createFileReplacement(internals, to, options, paths);

  const act = async (): Promise<Placement> => {
    const source = await storage.stat(from);
    const isRefused = source === undefined || !mayBeMoved(source, options);
    await replacement.begin(
      async (present) => isRefused || (await areSameFiles(storage, [from, source], [to, present])),
    );
    const place = (await storage.stat(to))?.kind === "folder" ? toVersionsPlace(to, "folder") : undefined;
    // Otherwise the versions that a move takes along may be there before it.
    const tree = place && (await hasMembers(storage, place)) ? place : undefined;
    // What remains after a failure is of files that are there no more.
    const report = (error: unknown): void => internals.report({ path: to, error });
    return copyOrMove(async () => tree && dropVersions(storage, tree).catch(report));
  };

  return runFileReplacement(replacement, act, () => undefined);
}

/** Whether the conditions of a copy or a move hold for its source. */
function mayBeMoved({ kind, etag }: StorageEntry, options: TransferOptions): boolean {
  const { ifMatch } = options;
  return isOfKind(kind, options) && meetsConditions(etag, ifMatch ? { ifMatch } : {});
}

type FoundFile = readonly [path: string, entry: StorageEntry];

async function areSameFiles(
  storage: StorageAdapter,
  [one, first]: FoundFile,
  [other, second]: FoundFile,
): Promise<boolean> {
  return first.kind === "file" && first.size === second.size && haveSameBytes(storage, one, other);
}
