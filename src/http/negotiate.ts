import Negotiator from "negotiator";

/** The API variant that a request speaks, which decides the statuses and the representation of its answer. */
export type Variant = "json" | "webdav" | "html";

const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html";
const ZIP_TYPE = "application/zip";
/** Stands for every type that we do not have: it wins wherever only a wildcard speaks. */
const NO_TYPE = "x-none/x-none";

/** Ranges of an `Accept` value that are looked at: no client has so many, and thousands would take tens of milliseconds. */
const MAX_RANGES = 100;

/** A quoted text, up to the end where it has none: what stands in it separates nothing (RFC 9110 5.6.4). */
const QUOTED = /"(?:[^"\\]|\\.)*"?/g;
/** A parameter of a media range, such as `charset`: our types have none that a client could choose by. */
const PARAMETER = /;(?![ \t]*q[ \t]*=)[^;,]*/gi;

/**
 * The variant of a request on the shared URL space (CONTRACT 1). `readsFolder` says whether it is a GET or HEAD
 * of a folder, which defaults to HTML.
 */
export function negotiateVariant(request: Request, readsFolder: boolean): Variant {
  const accepted = preferredType(request.headers.get("accept"));
  const sent = mediaType(request.headers.get("content-type"));
  if (accepted === JSON_TYPE || (sent === JSON_TYPE && accepted !== HTML_TYPE)) return "json";
  if (accepted === HTML_TYPE || sent === HTML_TYPE) return "html";
  if (sent === "multipart/form-data" && request.method === "POST") return "html";
  return readsFolder && !prefersArchive(request) ? "html" : "webdav";
}

/** Whether a GET or HEAD of a folder is for its ZIP archive (4.2): `Accept` names that type, and none of our others before it. */
export function prefersArchive(request: Request): boolean {
  return preferredType(request.headers.get("accept"), [JSON_TYPE, HTML_TYPE, ZIP_TYPE]) === ZIP_TYPE;
}

/** Which of our representations an `Accept` value prefers; `undefined` when none is named above a wildcard. */
function preferredType(accept: string | null, types: readonly string[] = [JSON_TYPE, HTML_TYPE]): string | undefined {
  if (accept === null) return undefined;
  const ranges = accept.replace(QUOTED, '""').replace(PARAMETER, "").split(",", MAX_RANGES);
  const headers = { accept: ranges.join(",") };
  const preferred = new Negotiator({ headers }).mediaTypes([NO_TYPE, ...types])[0];
  return preferred === NO_TYPE ? undefined : preferred;
}

/** The media type of a `Content-Type` value in lower case, without its parameters; `undefined` without one. */
export function mediaType(contentType: string | null): string | undefined {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() || undefined;
}
