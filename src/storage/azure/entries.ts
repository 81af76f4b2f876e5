import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { isName, type ObjectLocation, toLocation } from "../object-store/keys.ts";
import { toObjectEntry } from "../object-store/object-entry.ts";
import type { AzureHead } from "./head.ts";
import { fromBlobName, toBlobName } from "./names.ts";

/** Returns the location of a path, with names as Azure has them; `undefined` if nothing can exist there. */
export function toBlobLocation(prefix: string, path: string): ObjectLocation | undefined {
  const names = toPathSegments(path);
  return names.every(isName) ? toLocation(prefix, toCanonicalPath(names.map(toBlobName))) : undefined;
}

/** Creates the entry of a file from its name in Azure. */
export function toBlobEntry(name: string, head: Pick<AzureHead, "size" | "modified" | "etag">): StorageEntry {
  return toObjectEntry(fromBlobName(name), head);
}
