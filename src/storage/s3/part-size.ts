import { StorageError } from "../../contracts/storage-adapter.ts";

const MAX_PARTS = 10_000;
const MEBIBYTE = 1_048_576;
/** The largest file that stores keep: 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;
/** The parts of an upload of unknown length are twice as large after each so many, */
const PARTS_PER_STEP = 900;
/** and no larger than this, which is less than a buffer may be. */
const LARGEST_BYTES = 2048 * MEBIBYTE;

/** What a file is cut by. */
export interface S3PartPlan {
  /** The least of all parts but the last. */
  readonly partBytes: number;
  /** Of the file, where it is known. */
  readonly size: number | undefined;
}

/** How long a part is, from 1, so that the file fits into 10,000. Rejects a file, or a part, that is beyond what stores keep with `too-large`. */
export function toPartBytes(number: number, { partBytes, size }: S3PartPlan): number {
  if (number > MAX_PARTS || (size !== undefined && size > MAX_FILE_BYTES)) {
    throw new StorageError("too-large", "Stores keep files of up to 5 TiB.");
  }
  if (size !== undefined) return Math.max(partBytes, Math.ceil(size / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  const step = Math.floor((number - 1) / PARTS_PER_STEP);
  return Math.max(partBytes, Math.min(partBytes * 2 ** step, LARGEST_BYTES));
}
