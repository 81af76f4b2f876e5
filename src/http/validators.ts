import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { Validators } from "./conditional.ts";
import { toHttpDate } from "./http-date.ts";
import type { HeaderFields } from "./reply.ts";

/** The validators of a file: the storage's entity-tag, or a weak one of size and time if it has none (CONTRACT 3.1). */
export function toValidators({ etag, size, modified }: StorageEntry): Validators {
  return { etag: etag ?? `W/"${size.toString(16)}-${modified.getTime().toString(16)}"`, modified };
}

/** The headers that identify one version of a file. */
export function toValidatorFields({ etag, modified }: Validators): HeaderFields {
  return { ETag: etag, "Last-Modified": toHttpDate(modified) };
}
