import mime from "mime";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import type { Validators } from "../../http/conditional.ts";
import { toAttachment } from "../../http/content-disposition.ts";
import { toHttpDate } from "../../http/http-date.ts";
import type { HeaderFields } from "../../http/responses.ts";

/** Header fields that the name of a file decides. */
interface NameFields {
  readonly type: string;
  readonly disposition: string;
}

/** Of which the type also stands before each of several parts. */
export type FileFields = HeaderFields & { readonly "Content-Type": string };

/** For how many names they are remembered: at most about 1 KiB each, and what is asked for often is asked for by few names. */
const MAX_NAMES = 500;
const known = new Map<string, NameFields>();

/** The header fields of a file's content as a whole (CONTRACT 3.1, 3.2). Written out, as spreading them costs more than making them. */
export function toFileFields(entry: StorageEntry, segments: readonly string[]): FileFields {
  const { etag, modified } = toValidators(entry);
  const { type, disposition } = toNameFields(segments.at(-1) ?? "");
  return {
    ETag: etag,
    "Last-Modified": toHttpDate(modified),
    "Accept-Ranges": "bytes",
    "Content-Length": String(entry.size),
    "Content-Type": type,
    "Content-Disposition": disposition,
    // A user's file never runs in the service's origin (CONTRACT 3.2).
    "Content-Security-Policy": "sandbox; default-src 'none'",
  };
}

/** What tells one version of a file from another. */
export function toValidatorFields({ etag, modified }: Validators): HeaderFields {
  return { ETag: etag, "Last-Modified": toHttpDate(modified) };
}

function toNameFields(name: string): NameFields {
  const found = known.get(name);
  if (found !== undefined) return found;
  const fields = { type: mime.getType(name) ?? "application/octet-stream", disposition: toAttachment(name) };
  if (known.size >= MAX_NAMES) known.clear();
  known.set(name, fields);
  return fields;
}

/** The validators of a file: the storage's own entity-tag, else a weak one from size and time (CONTRACT 3.1). */
export function toValidators({ etag, size, modified }: StorageEntry): Validators {
  return { etag: etag ?? `W/"${size.toString(16)}-${modified.getTime().toString(16)}"`, modified };
}
