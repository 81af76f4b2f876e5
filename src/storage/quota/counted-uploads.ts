import type { StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { createBoundedMap } from "../../platform/bounded-map.ts";
import { type Amount, add, NOTHING, subtract } from "./amount.ts";
import { countsIn } from "./counted-path.ts";
import type { ChangedPart } from "./settlement.ts";

/** Returns what an unfinished upload will need: its length, or if that is not known, what has arrived. */
export function toNeeded({ size, offset, done }: Pick<UploadState, "size" | "offset" | "done">): Amount {
  return done === undefined ? { bytes: size ?? offset, files: 0 } : NOTHING;
}

/** What all uploads in a folder will need, and whether that still holds. */
export interface UploadSum {
  readonly amount: Amount;
  isCurrent(): boolean;
}

/**
 * Tracks how much is already counted for each upload that calls are changing. Several calls may change one upload at a
 * time, and none of them knows what the others have counted.
 */
export interface CountedUploads {
  /** Opens an upload for a call. `needed`: what is counted for it, if no other call has opened it. */
  open(key: UploadKey, path: string, needed: Amount): CountedUpload;
  /** Adds up what is counted for the uploads in a folder. */
  sum(folder: string): Promise<UploadSum>;
}

/** An upload that a call is changing. */
export interface CountedUpload {
  /** The upload was created. An earlier one with its key does not matter any more. */
  begin(): void;
  /** What is counted for the upload, and no file has claimed. */
  free(): ChangedPart;
  /**
   * Counts an upload that has grown. It never shrinks: a state may be older than what another call has counted.
   * `count` counts the difference.
   */
  grow(to: Amount, count: (change: ChangedPart) => Promise<void>): Promise<void>;
  /** Claims what is free for a file, until {@link CountedUpload.close}. */
  claim(): ChangedPart;
  /** The file exists: nothing is counted for the upload from now on, if this call has claimed it. */
  spend(count: (change: ChangedPart) => Promise<void>): Promise<void>;
  /** The upload no longer exists: nothing is counted for it from now on. */
  end(count: (change: ChangedPart) => Promise<void>): Promise<void>;
  close(): void;
}

interface Counted {
  readonly path: string;
  amount: Amount;
  isClaimed: boolean;
  isOver: boolean;
  calls: number;
}

/** The joined uploads whose end is not known yet. */
const MAX_ENDED = 10_000;

/** Creates the {@link CountedUploads} of a storage. */
export function createCountedUploads(uploads: StorageUploads | undefined): CountedUploads {
  const opened = new Map<string, Counted>();
  /** Uploads that still exist although nothing is counted for them. */
  const ended = createBoundedMap<string, true>(MAX_ENDED);
  let version = 0;
  let counting = 0;

  function open(key: UploadKey, path: string, needed: Amount): CountedUpload {
    const name = toName(key);
    const isOver = ended.get(name) === true;
    const amount = isOver ? NOTHING : needed;
    const upload = opened.get(name) ?? { path, amount, isClaimed: false, isOver, calls: 0 };
    upload.calls += 1;
    opened.set(name, upload);
    version += 1;
    let hasClaim = false;

    async function change(amount: Amount, count: (change: ChangedPart) => Promise<void>): Promise<void> {
      const difference = subtract(amount, upload.amount);
      upload.amount = amount;
      version += 1;
      counting += 1;
      try {
        await count({ path: upload.path, amount: difference });
      } finally {
        counting -= 1;
      }
    }

    function end(count: (change: ChangedPart) => Promise<void>): Promise<void> {
      upload.isOver = true;
      ended.set(name, true);
      return change(NOTHING, count);
    }

    function free(): ChangedPart {
      return { path: upload.path, amount: upload.isClaimed ? NOTHING : upload.amount };
    }

    return {
      begin() {
        upload.isOver = false;
        ended.delete(name);
      },
      free,
      grow: (to, count) => {
        const more = Math.max(0, to.bytes - upload.amount.bytes);
        return change(upload.isOver ? NOTHING : add(upload.amount, { bytes: more, files: 0 }), count);
      },
      claim() {
        const part = free();
        hasClaim = !upload.isClaimed;
        upload.isClaimed = true;
        return part;
      },
      spend: (count) => (hasClaim ? end(count) : change(upload.amount, count)),
      end,
      close() {
        if (hasClaim) upload.isClaimed = false;
        upload.calls -= 1;
        if (upload.calls === 0) opened.delete(name);
        version += 1;
      },
    };
  }

  async function sum(folder: string): Promise<UploadSum> {
    const before = version;
    const isSteady = counting === 0;
    let amount = NOTHING;
    for await (const state of uploads?.list() ?? []) {
      const name = toName(state.key);
      const isListed = state.lost !== true && !opened.has(name) && ended.get(name) === undefined;
      if (isListed && countsIn(state.path, folder)) amount = add(amount, toNeeded(state));
    }
    for (const upload of opened.values()) if (countsIn(upload.path, folder)) amount = add(amount, upload.amount);
    return { amount, isCurrent: () => isSteady && version === before };
  }

  return { open, sum };
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
