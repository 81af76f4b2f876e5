/** The paths that running uploads of this process have chosen, so that no other one chooses the same. */
export interface ReservedNames {
  /** Reserves a path of the storage. Returns a function that releases it; `undefined` if the path is reserved. */
  reserve(path: string): (() => void) | undefined;
}

/** Creates the reserved names of a service. */
export function createReservedNames(): ReservedNames {
  const reserved = new Set<string>();

  function reserve(path: string): (() => void) | undefined {
    // Some file systems take names for the same that differ in case, or in the composition of their characters.
    const key = path.normalize("NFC").toLowerCase();
    if (reserved.has(key)) return undefined;
    reserved.add(key);
    return () => void reserved.delete(key);
  }

  return { reserve };
}
