/** A number of files, and the sum of their sizes. Negative numbers are what goes away. */
export interface Amount {
  readonly bytes: number;
  readonly files: number;
}

export const NOTHING: Amount = { bytes: 0, files: 0 };

export function add(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files };
}

export function subtract(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes - other.bytes, files: one.files - other.files };
}

export function times({ bytes, files }: Amount, factor: number): Amount {
  return { bytes: factor * bytes, files: factor * files };
}

/** What has to be added to `held`, so that it is at least `needed`. */
export function toMissing(needed: Amount, held: Amount): Amount {
  return { bytes: Math.max(0, needed.bytes - held.bytes), files: Math.max(0, needed.files - held.files) };
}

/** The smaller number of files, and the smaller sum. */
export function toSmaller(one: Amount, other: Amount): Amount {
  return { bytes: Math.min(one.bytes, other.bytes), files: Math.min(one.files, other.files) };
}

export function isNothing({ bytes, files }: Amount): boolean {
  return bytes === 0 && files === 0;
}
