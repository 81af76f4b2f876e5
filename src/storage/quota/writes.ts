import { isQuotaError } from "../../contracts/quota.ts";
import { hasCode, type StorageAdapter, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { nameOf, parentOf } from "../../contracts/storage-path.ts";
import { type Steps, watchSteps } from "../../contracts/watch-steps.ts";
import { findReplacingWrite } from "../replacing-write.ts";
import type { PathMutex } from "../wrappers/path-mutex.ts";
import { isRecord } from "../wrappers/records.ts";
import type { Admissions, Reservation } from "./admission.ts";
import { type Amount, subtract, times, toMissing } from "./amount.ts";
import type { Counts } from "./counts.ts";
import { toAmount } from "./measure.ts";
import type { ChangedPart } from "./settlement.ts";
import type { Walks } from "./walks.ts";

/** What the operations of a storage with quotas share. */
export interface QuotaInternals {
  /** The storage that is counted, with what wrappers keep in it. */
  readonly storage: StorageAdapter;
  readonly admissions: Admissions;
  readonly counts: Counts;
  readonly mutex: PathMutex;
  readonly walks: Walks;
  /** How much is reserved at a time for content without a length. */
  readonly stepBytes: number;
}

/** The size up to which a file may be reserved whole, also if it replaces another one. */
const SMALL_BYTES = 65_536;
/** How many more files of its size must fit then, so that the others hardly ever miss the room. */
const SPARE_FILES = 100;

/** Creates `write` of a storage with quotas. */
export function createWrite(internals: QuotaInternals): StorageAdapter["write"] {
  const { storage, admissions } = internals;
  const replace = findReplacingWrite(storage);

  return async (path, content, options = {}): Promise<StorageEntry> => {
    // A removal stays possible when the quota is used up.
    if (isRecord(parentOf(path), nameOf(path))) return storage.write(path, content, options);
    const limits = admissions.limitsOf(path, options.quota);
    const reservation = admissions.open(limits);
    const commit = createFileCommit(internals, path, reservation, { reportsReplaced: replace !== undefined });
    try {
      const { size } = options;
      // Without a length nothing is reserved before the first step, so nothing has to be known of the file.
      const isSized = size !== undefined && limits.length > 0;
      const admitted = admit(internals, content, {
        reservation,
        onStart: isSized ? () => reserveFile(storage, path, size, reservation) : undefined,
        isSized,
        onEnd: commit.begin,
      });
      const write = (signal = options.signal): Promise<StorageEntry> => {
        const own = signal ? { ...options, signal } : options;
        return replace?.(path, admitted, own, commit.noteReplaced) ?? storage.write(path, admitted, own);
      };
      // A large file may take longer to get its place than its lease lasts.
      const isSmall = size !== undefined && size <= SMALL_BYTES;
      const entry = await (isSmall ? write() : reservation.during(write, options.signal));
      await commit.count(entry);
      return entry;
    } catch (error) {
      await commit.recountIfReplaced(error);
      throw error;
    } finally {
      commit.end();
      await reservation.release();
    }
  };
}

/**
 * Reserves room for a file of a known size. A look at the file that it replaces costs more than to receive a small one.
 * So a small one is reserved whole where many of them would fit. What it did not need is given back afterwards.
 */
async function reserveFile(
  storage: StorageAdapter,
  path: string,
  size: number,
  reservation: Reservation,
): Promise<void> {
  const file = toFile(size);
  try {
    if (size <= SMALL_BYTES) return await reservation.raise(file, { spare: times(file, SPARE_FILES) });
  } catch (error) {
    // There is too little room for many of them.
    if (!hasCode(error, "no-space")) throw error;
  }
  await reservation.raise(toMissing(file, toAmount(await storage.stat(path))));
}

/** The step in which a file takes its place: nothing else in this process changes what is at its path. */
export interface FileCommit {
  /** Locks the path, and admits what the file needs beyond the one that it replaces. */
  begin(bytes: number, credit?: readonly ChangedPart[]): Promise<void>;
  /** Notes what the storage has replaced. */
  noteReplaced(entry: StorageEntry | undefined): void;
  /** Counts the difference, if it is known what was replaced, and that of uploads that have become the file. */
  count(entry: StorageEntry, uploads?: readonly ChangedPart[]): Promise<void>;
  /** After a failure: if the file may have been replaced nevertheless, the folders around it are counted again. */
  recountIfReplaced(error: unknown): Promise<void>;
  end(): void;
}

/** Creates a {@link FileCommit}. `reportsReplaced`: the storage calls `noteReplaced` when it has placed the file. */
export function createFileCommit(
  { storage, admissions, counts, mutex, walks }: QuotaInternals,
  path: string,
  reservation: Reservation,
  { reportsReplaced = false } = {},
): FileCommit {
  let unlock: (() => void) | undefined;
  let endChange: (() => void) | undefined;
  let isOver = false;
  let mayBeReplaced = false;
  let replaced: Amount | undefined;

  /** A write that is aborted does not wait for the last step of its content, which may come here later. */
  function endIfOver(): void {
    if (!isOver) return;
    end();
    throw new StorageError("incomplete");
  }

  function end(): void {
    isOver = true;
    endChange?.();
    unlock?.();
    endChange = undefined;
    unlock = undefined;
  }

  async function begin(bytes: number, credit: readonly ChangedPart[] = []): Promise<void> {
    unlock = await mutex.lock([path]);
    endIfOver();
    const renewing = reservation.renew();
    if (renewing) await renewing;
    const file = toFile(bytes);
    // With all of it reserved it makes no difference what is there.
    if (!reportsReplaced || !reservation.holds(file)) {
      replaced = toAmount(await storage.stat(path));
      await reservation.raise(toMissing(file, replaced), { credit });
    }
    // Only now: a reservation may wait for a walk, and a walk waits for the changes that it knows of.
    endChange = walks.announce([path]);
    endIfOver();
    mayBeReplaced = !reportsReplaced;
  }

  function noteReplaced(entry: StorageEntry | undefined): void {
    mayBeReplaced = true;
    replaced = toAmount(entry);
  }

  async function count(entry: StorageEntry, uploads: readonly ChangedPart[] = []): Promise<void> {
    if (replaced === undefined) return;
    const amount = subtract(toAmount(entry), replaced);
    const folders = await admissions.countedAfter([path, ...uploads.map((upload) => upload.path)]);
    await reservation.settle({ parts: [{ path, amount }], uploads }, folders);
  }

  async function recountIfReplaced(error: unknown): Promise<void> {
    if (!mayBeReplaced || !(reportsReplaced || isUncertain(error))) return;
    await counts.markStale([...reservation.folders, ...(await admissions.countedAfter([path]))]);
  }

  return { begin, noteReplaced, count, recountIfReplaced, end };
}

/**
 * Whether a change may have happened although it failed: the storage does not know, or it was told to stop. The signal
 * of a caller has errors of its own, and a lease that has ended that of a quota.
 */
function isUncertain(error: unknown): boolean {
  return !(error instanceof StorageError) || hasCode(error, "unavailable") || isQuotaError(error);
}

/** What {@link admit} does around the content. */
export interface AdmittedContent {
  readonly reservation: Reservation;
  /** Called when the first chunk is asked for. */
  readonly onStart?: (() => Promise<void>) | undefined;
  /** Whether all of the content is reserved at the beginning. */
  readonly isSized: boolean;
  /** Called after the last chunk, with the number of bytes. */
  readonly onEnd?: (bytes: number) => Promise<void>;
}

/** Returns content as far as it is admitted. Its steps fail with the error of a quota. */
export function admit(
  { stepBytes }: Pick<QuotaInternals, "stepBytes">,
  content: AsyncIterable<Uint8Array>,
  { reservation, onStart, isSized, onEnd }: AdmittedContent,
): Steps<Uint8Array> {
  let received = 0;
  let reserved = 0;

  async function reserve(): Promise<void> {
    reserved = await raiseByStep(reservation, received, stepBytes);
  }

  const steps = watchSteps(() => content, {
    onStep(chunk) {
      received += chunk.byteLength;
      return !isSized && received > reserved ? reserve() : reservation.renew();
    },
    onEnd: () => onEnd?.(received),
  });
  let starting: Promise<void> | undefined;

  function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (onStart === undefined || received > 0) return steps.next();
    starting ??= onStart();
    return starting.then(() => steps.next());
  }

  const admitted: Steps<Uint8Array> = { next, return: steps.return, [Symbol.asyncIterator]: () => admitted };
  return admitted;
}

/** Reserves up to the next step, or only what has come if that fails. */
async function raiseByStep(reservation: Reservation, received: number, stepBytes: number): Promise<number> {
  const step = Math.ceil(received / stepBytes) * stepBytes;
  try {
    await reservation.raise({ bytes: step, files: 0 });
    return step;
  } catch {
    await reservation.raise({ bytes: received, files: 0 });
    return received;
  }
}

function toFile(bytes: number): Amount {
  return { bytes, files: 1 };
}
