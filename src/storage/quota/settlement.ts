import { type Amount, add, NOTHING } from "./amount.ts";
import { countsIn } from "./counted-path.ts";

/** What has happened in a folder, as one step. */
export interface Settlement {
  /** What uploads in several requests will need more, or less, by path in the storage. */
  readonly uploads?: readonly ChangedPart[];
  /** What has changed, by path in the storage. */
  readonly parts?: readonly ChangedPart[];
  /** The change has removed a folder. Uploads in several requests for files in it are lost. */
  readonly losesUploads?: boolean;
}

/** The difference at a path of the storage. */
export interface ChangedPart {
  readonly path: string;
  readonly amount: Amount;
}

/** Returns the sum of the differences in a folder. */
export function sumWithin(folder: string, parts: readonly ChangedPart[]): Amount {
  let sum = NOTHING;
  for (const { path, amount } of parts) if (countsIn(path, folder)) sum = add(sum, amount);
  return sum;
}
