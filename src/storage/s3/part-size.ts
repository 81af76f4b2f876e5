import { StorageError } from "../../contracts/storage-adapter.ts";

const MAX_PARTS = 10_000;
const MEBIBYTE = 1_048_576;
/** Maximum size of a file in a store: 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;
/** In an upload of unknown length, the part size doubles after this number of parts. */
const PARTS_PER_STEP = 900;
/** Maximum part size of such an upload. It is below the maximum size of a buffer. */
const LARGEST_BYTES = 2048 * MEBIBYTE;

/** How a file is cut into parts. */
export interface S3PartPlan {
  /** Minimum size of all parts except the last. */
  readonly partBytes: number;
  /** Size of the file, if known. */
  readonly size: number | undefined;
}

/**
 * Returns the size of a part, numbered from 1, so that the file fits into 10,000 parts.
 * @throws StorageError `too-large` for a file or part beyond the limits of stores.
 */
export function toPartBytes(number: number, { partBytes, size }: S3PartPlan): number {
  if (number > MAX_PARTS || (size !== undefined && size > MAX_FILE_BYTES)) {
    throw new StorageError("too-large", "S3 stores files of up to 5 TiB.");
  }
  if (size !== undefined) return Math.max(partBytes, Math.ceil(size / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  const step = Math.floor((number - 1) / PARTS_PER_STEP);
  return Math.max(partBytes, Math.min(partBytes * 2 ** step, LARGEST_BYTES));
}
