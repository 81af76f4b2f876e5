import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { isWithinFolder, parentOf } from "../../contracts/storage-path.ts";
import { wait } from "../../platform/wait.ts";
import { type Amount, add, NOTHING } from "./amount.ts";
import { toCountedFolders, toPathsAround } from "./counted-path.ts";
import { measureFolder } from "./measure.ts";

/**
 * Counts folders by walks, while their content changes. Callers announce each change before it starts, and report its
 * size afterwards. So a walk knows which changes it will see: those in folders that it has yet to list. It adds the
 * other changes to its result. It lists a folder again that changed while it was listed.
 */
export interface Walks {
  /** Announces a change of what is at these paths. The function that it returns ends the change. */
  announce(paths: readonly string[]): () => void;
  /** Reports a change to the walk of a folder, if one is running. `amount` is the difference at a path. */
  note(folder: string, path: string, amount: Amount): void;
  /** Reports a change that was not measured to the walk of a folder, if one is running. */
  disturb(folder: string): void;
  /** Counts a folder, once at a time. Returns `undefined` if too much changed meanwhile, or if the signal aborts. */
  count(folder: string, signal?: AbortSignal): Promise<FolderWalk | undefined>;
}

/** A walk that has ended, until {@link FolderWalk.end}. Changes are still added to its total. */
export interface FolderWalk {
  readonly total: Amount;
  end(): void;
}

/** A change in progress, and what to call when it ends. */
interface Change {
  readonly paths: readonly string[];
  readonly waiting: (() => void)[];
}

/** A walk in progress. */
interface Walking {
  /** The folders that are known, and not listed yet. */
  readonly pending: Set<string>;
  /** The folder that is being listed. */
  current: string | undefined;
  total: Amount;
  /** Something changed in the folder that is being listed: list it again. */
  mustRelist: boolean;
  /** Something changed that cannot be added or left out: walk again. */
  isBroken: boolean;
  /** A change in the folder that is being listed takes too long to be waited for. */
  isLate: boolean;
}

const MAX_WALKS = 3;
/** How often a folder is listed, or waited for, while changes in it go on. */
const MAX_LISTINGS = 20;
/** A walk does not wait longer for a change: admissions wait for the walk. */
const PATIENCE_MILLISECONDS = 5000;

/** Creates the walks of a storage in which wrappers see everything. */
export function createWalks(storage: StorageAdapter): Walks {
  const changes = new Set<Change>();
  /** By the folder that is counted. */
  const walks = new Map<string, Walking>();

  function announce(paths: readonly string[]): () => void {
    const change: Change = { paths, waiting: [] };
    changes.add(change);
    for (const walk of walks.values()) if (paths.some((path) => isAtListing(walk, path))) walk.mustRelist = true;
    return () => {
      changes.delete(change);
      for (const resume of change.waiting) resume();
    };
  }

  function note(folder: string, path: string, amount: Amount): void {
    const walk = walks.get(folder);
    if (walk !== undefined) noteIn(walk, path, amount);
  }

  function disturb(folder: string): void {
    const walk = walks.get(folder);
    if (walk !== undefined) walk.isBroken = true;
  }

  async function count(folder: string, signal?: AbortSignal): Promise<FolderWalk | undefined> {
    for (let attempt = 0; attempt < MAX_WALKS; attempt += 1) {
      const walk = startWalk(folder);
      walks.set(folder, walk);
      try {
        await walkThrough(walk, signal);
      } catch (error) {
        walks.delete(folder);
        throw error;
      }
      if (!walk.isBroken) return toWalk(walk, () => walks.delete(folder));
      walks.delete(folder);
      if (walk.isLate || signal?.aborted) return undefined;
    }
    return undefined;
  }

  async function walkThrough(walk: Walking, signal: AbortSignal | undefined): Promise<void> {
    for (const folder of walk.pending) {
      if (signal?.aborted) walk.isBroken = true;
      if (walk.isBroken) return;
      walk.pending.delete(folder);
      await listInto(walk, folder);
    }
  }

  async function listInto(walk: Walking, folder: string): Promise<void> {
    walk.current = folder;
    for (let attempt = 0; attempt < MAX_LISTINGS; attempt += 1) {
      const running = [...changes].filter(({ paths }) => paths.some((path) => isAtListing(walk, path)));
      if (running.length > 0) {
        walk.isLate = !(await endInTime(running));
        if (!walk.isLate) continue;
        break;
      }
      walk.mustRelist = false;
      const { amount, folders } = await measureFolder(storage, folder);
      if (walk.isBroken) return;
      if (walk.mustRelist) continue;
      walk.current = undefined;
      walk.total = add(walk.total, amount);
      for (const one of folders) walk.pending.add(one);
      return;
    }
    walk.isBroken = true;
  }

  return { announce, note, disturb, count };
}

function untilEnded({ waiting }: Change): Promise<void> {
  return new Promise((resolve) => waiting.push(resolve));
}

/** Waits for changes to end. Returns false if they take long, such as the copy of a large folder. */
async function endInTime(running: readonly Change[]): Promise<boolean> {
  const stop = new AbortController();
  const late = wait(PATIENCE_MILLISECONDS, stop.signal).then(
    () => false,
    () => false,
  );
  const ended = Promise.all(running.map(untilEnded)).then(() => true);
  return Promise.race([ended, late]).finally(() => stop.abort());
}

function startWalk(folder: string): Walking {
  const pending = new Set(toCountedFolders(folder));
  return { pending, current: undefined, total: NOTHING, mustRelist: false, isBroken: false, isLate: false };
}

function toWalk(walking: Walking, end: () => void): FolderWalk {
  return {
    get total() {
      return walking.total;
    },
    end,
  };
}

/** Whether a change at a path may be in what is being listed: below the folder, or all around it. */
function isAtListing({ current }: Walking, path: string): boolean {
  return current !== undefined && (isWithinFolder(path, current) || isWithinFolder(current, path));
}

function noteIn(walk: Walking, path: string, amount: Amount): void {
  const { current, pending } = walk;
  if (current !== undefined && isWithinFolder(current, path)) {
    // The folder that is being listed is in what changed, and a part of that has been counted.
    walk.isBroken = true;
  } else if (current !== undefined && isWithinFolder(path, current)) {
    walk.mustRelist = true;
  } else if (pending.has(path)) {
    // A file in the place of a folder that was found would not be counted.
    if (amount.files > 0) walk.isBroken = true;
  } else if (!toPathsAround(parentOf(path)).some((folder) => pending.has(folder))) {
    walk.total = add(walk.total, amount);
  }
}
