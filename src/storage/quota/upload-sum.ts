import type { StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { type Amount, add, NOTHING } from "./amount.ts";
import { isWithin, toCountedPath } from "./counted-path.ts";

/** Returns what an upload that is not complete will need: its length, or what has come if that is not known. */
export function toNeeded({ size, offset, done }: UploadState): Amount {
  return done === undefined ? { bytes: size ?? offset, files: 0 } : NOTHING;
}

/** What all uploads in a folder will need, and whether that still holds. */
export interface UploadSum {
  readonly amount: Amount;
  isCurrent(): boolean;
}

/** The uploads that are being changed. Until a change is counted, each counts as it was before. */
export interface ChangingUploads {
  /** Runs a change of an upload at a path that needed `before`. The change counts its difference itself. */
  run<T>(key: UploadKey, path: string, before: Amount, change: () => Promise<T>): Promise<T>;
  /** Adds up what the uploads in a folder will need. */
  sum(folder: string): Promise<UploadSum>;
}

/** An upload as it was before a change. */
interface UploadChanging {
  readonly path: string;
  readonly before: Amount;
}

/** Creates the {@link ChangingUploads} of a storage. */
export function createChangingUploads(uploads: StorageUploads | undefined): ChangingUploads {
  /** By upload. Of several changes the first one knows how it was before. */
  const changing = new Map<string, readonly UploadChanging[]>();
  let ended = 0;

  async function run<T>(key: UploadKey, path: string, before: Amount, change: () => Promise<T>): Promise<T> {
    const name = toName(key);
    const entry = { path, before };
    changing.set(name, [...(changing.get(name) ?? []), entry]);
    try {
      return await change();
    } finally {
      const others = (changing.get(name) ?? []).filter((other) => other !== entry);
      if (others.length > 0) changing.set(name, others);
      else changing.delete(name);
      ended += 1;
    }
  }

  async function sum(folder: string): Promise<UploadSum> {
    const before = ended;
    let amount = NOTHING;
    for await (const state of uploads?.list() ?? []) {
      const isCounted = state.lost !== true && !changing.has(toName(state.key));
      if (isCounted && isIn(state.path, folder)) amount = add(amount, toNeeded(state));
    }
    for (const [first] of changing.values()) if (first && isIn(first.path, folder)) amount = add(amount, first.before);
    return { amount, isCurrent: () => ended === before };
  }

  return { run, sum };
}

function isIn(path: string, folder: string): boolean {
  return isWithin(toCountedPath(path), folder);
}

function toName({ owner, id }: UploadKey): string {
  return `${id} ${owner}`;
}
