import { foldPath } from "../contracts/storage-path.ts";

/** The paths that running uploads of this process have chosen, so that no other one chooses the same. */
export interface ReservedNames {
  /** Reserves a path of the storage. Returns a function that releases it; `undefined` if the path is reserved. */
  reserve(path: string): (() => void) | undefined;
}

/** Creates the reserved names of a service. */
export function createReservedNames(): ReservedNames {
  const reserved = new Set<string>();

  function reserve(path: string): (() => void) | undefined {
    const key = foldPath(path);
    if (reserved.has(key)) return undefined;
    reserved.add(key);
    return () => void reserved.delete(key);
  }

  return { reserve };
}
