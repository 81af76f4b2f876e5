import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { Validators } from "../http/conditional.ts";

/** The validators of a file: the storage's own entity-tag, else a weak one from size and time (CONTRACT 3.1). */
export function toValidators({ etag, size, modified }: StorageEntry): Validators {
  return { etag: etag ?? `W/"${size.toString(16)}-${modified.getTime().toString(16)}"`, modified };
}
