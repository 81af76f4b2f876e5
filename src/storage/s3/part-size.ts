import { StorageError } from "../../contracts/storage-adapter.ts";
import { MAX_HELD_PART_BYTES } from "../object-store/part-memory.ts";

const MAX_PARTS = 10_000;
/** Maximum size of a file in a store: 5 TiB. */
const MAX_FILE_BYTES = 5 * 1024 ** 4;
/** The part size doubles after this number of parts. */
const PARTS_PER_STEP = 1000;
/** Number of held parts of a file that does not fit into 10,000 of them. */
const HELD_PARTS_OF_LARGEST = 9000;

/** How a file is cut into parts. */
export interface S3PartPlan {
  /** Number of parts that may be held in memory. Further parts are sent as they arrive. */
  readonly maxHeldParts: number;
  /**
   * Returns the size of a part, numbered from 1.
   * @throws StorageError `too-large` for a part beyond the limits of stores.
   */
  bytesOf(number: number): number;
}

/**
 * Returns the parts of a file. Held parts grow with their number and not with the announced size, so that an upload
 * holds only a fraction of what it has sent. If they do not reach the announced size, the last 1,000 parts are
 * streamed.
 * @throws StorageError `too-large` for a file beyond the limits.
 */
export function toPartPlan(partBytes: number, size: number | undefined, canStream: boolean): S3PartPlan {
  const isHeld = size === undefined || size <= sumOfParts(partBytes, MAX_PARTS);
  if (!isHeld && (!canStream || size > MAX_FILE_BYTES)) throw tooLarge();
  const maxHeldParts = isHeld ? MAX_PARTS : HELD_PARTS_OF_LARGEST;
  const streamedBytes = isHeld
    ? 0
    : Math.ceil((size - sumOfParts(partBytes, maxHeldParts)) / (MAX_PARTS - maxHeldParts));

  function bytesOf(number: number): number {
    if (number > MAX_PARTS) throw tooLarge();
    return number > maxHeldParts ? streamedBytes : toHeldBytes(partBytes, Math.floor((number - 1) / PARTS_PER_STEP));
  }

  return { maxHeldParts, bytesOf };
}

/**
 * Returns the size of the first parts with which a file fits into held parts: `partBytes`, doubled as often as needed.
 * @throws StorageError `too-large` for a file that does not fit.
 */
export function toFittingPartBytes(partBytes: number, size: number | undefined): number {
  let bytes = partBytes;
  while (size !== undefined && size > sumOfParts(bytes, MAX_PARTS)) {
    if (bytes === MAX_HELD_PART_BYTES) throw tooLarge();
    bytes = Math.min(2 * bytes, MAX_HELD_PART_BYTES);
  }
  return bytes;
}

function toHeldBytes(partBytes: number, step: number): number {
  return Math.min(partBytes * 2 ** step, MAX_HELD_PART_BYTES);
}

/** Returns the size of a number of held parts, which is a multiple of a step. */
function sumOfParts(partBytes: number, parts: number): number {
  let sum = 0;
  for (let step = 0; step < parts / PARTS_PER_STEP; step += 1) sum += PARTS_PER_STEP * toHeldBytes(partBytes, step);
  return sum;
}

function tooLarge(): StorageError {
  return new StorageError("too-large", "The file does not fit into 10,000 parts.");
}
