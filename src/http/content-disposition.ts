import { encodeExtended } from "content-disposition";

/**
 * A `Content-Disposition` that makes browsers save a file as `name`. It has a safe ASCII `filename` and the exact
 * `filename*` (RFC 6266, RFC 8187).
 */
export function toAttachment(name: string): string {
  const fallback = name.replace(/[^ -~]+|["\\%]/g, "_");
  return `attachment; filename="${fallback}"; filename*=${encodeExtended(name)}`;
}
