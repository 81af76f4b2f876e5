import { createError } from "../errors.ts";
import type { UploadConcat } from "./request-types.ts";

/** Maximum number of uploads that one request joins (RESUMABLE 3.13). */
const MAX_PARTS = 1000;
const FINAL = "final;";
/** URLs have no other characters, nor have response fields, where the value is sent again. */
const VALUE = /^[ -~]*$/;

/** Whether a creation asks for a file that is made of others. */
export function isJoin(headers: Headers): boolean {
  return headers.get("upload-concat")?.startsWith(FINAL) ?? false;
}

/**
 * Reads `Upload-Concat` (tus, Concatenation); `undefined` without the header. Of the URLs of parts, which may be
 * relative to the URL of the request, only the paths count.
 * @throws HttpError `malformed` for any other value than `partial`, and `final` with 1 to 1,000 URLs.
 */
export function readConcat({ headers, url }: Request): UploadConcat | undefined {
  const value = headers.get("upload-concat");
  if (value === null) return undefined;
  if (value === "partial") return { kind: "partial" };
  const parts = isJoin(headers) && VALUE.test(value) ? value.slice(FINAL.length).split(" ", MAX_PARTS + 1) : [];
  const paths = parts.flatMap((part) => toPath(part, url) ?? []);
  if (parts.length < 1 || parts.length > MAX_PARTS || paths.length < parts.length) {
    throw createError("upload-concat-invalid", { values: { max: MAX_PARTS } });
  }
  return { kind: "final", value, paths };
}

function toPath(part: string, base: string): string | undefined {
  return part !== "" && URL.canParse(part, base) ? new URL(part, base).pathname : undefined;
}
