import mime from "mime";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { toAttachment } from "../../http/content-disposition.ts";
import { toHttpDate } from "../../http/http-date.ts";
import { toValidators } from "../../http/validators.ts";
import type { FileFields } from "../../transfers/send-file.ts";

/** Header values that depend on the name of a file only. */
interface NameFields {
  readonly type: string;
  readonly disposition: string;
}

/** For how many names the header values are memoized: at most about 1 KiB each. Most requests are for few names. */
const MAX_NAMES = 500;
const memoized = new Map<string, NameFields>();

/** The headers of a complete file (CONTRACT 3.1, 3.2). Written out, because spreading objects is measurably slower. */
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

function toNameFields(name: string): NameFields {
  const found = memoized.get(name);
  if (found !== undefined) return found;
  const fields = { type: mime.getType(name) ?? "application/octet-stream", disposition: toAttachment(name) };
  if (memoized.size >= MAX_NAMES) memoized.clear();
  memoized.set(name, fields);
  return fields;
}
