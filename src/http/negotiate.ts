import Negotiator from "negotiator";
import { memoize } from "../platform/memoize.ts";
import { trimOptionalWhitespace } from "./optional-whitespace.ts";

/** The API variant of a request. It decides the statuses and the representation of the response. */
export type Variant = "json" | "webdav" | "html";

const JSON_TYPE = "application/json";
const HTML_TYPE = "text/html";
const ZIP_TYPE = "application/zip";
/** Stands for every type that the service does not have. It is preferred whenever only a wildcard matches. */
const NO_TYPE = "x-none/x-none";

/**
 * Maximum number of media ranges of an `Accept` value. No client sends more, and thousands would take tens of
 * milliseconds.
 */
const MAX_RANGES = 100;

/**
 * A quoted string, up to the end if it is not closed: commas and semicolons in it separate nothing (RFC 9110 5.6.4).
 */
const QUOTED = /"(?:[^"\\]|\\.)*"?/g;
/** A parameter of a media range, such as `charset`. The service's types have none that a client could choose by. */
const PARAMETER = /;(?![ \t]*q[ \t]*=)[^;,]*/gi;

/**
 * The variant of a request at a URL that all variants share (CONTRACT 1). `readsFolder`: the request is a GET or HEAD
 * of a folder, whose default is HTML.
 */
export function negotiateVariant(request: Request, readsFolder: boolean): Variant {
  const accepted = preferredType(request.headers.get("accept") ?? "");
  const sent = mediaType(request.headers.get("content-type"));
  if (accepted === JSON_TYPE || (sent === JSON_TYPE && accepted !== HTML_TYPE)) return "json";
  if (accepted === HTML_TYPE || sent === HTML_TYPE) return "html";
  if (sent === "multipart/form-data" && request.method === "POST") return "html";
  return readsFolder && !prefersArchive(request) ? "html" : "webdav";
}

/** Whether a script in a browser says that it has sent a request. */
export function isByScript({ headers }: Pick<Request, "headers">): boolean {
  return headers.get("x-requested-with") === "XMLHttpRequest";
}

/**
 * Whether a GET or HEAD of a folder is for its ZIP archive (4.2): `Accept` names this type, and prefers no other type
 * of the service to it.
 */
export function prefersArchive(request: Request): boolean {
  return choose(request.headers.get("accept") ?? "", [JSON_TYPE, HTML_TYPE, ZIP_TYPE]) === ZIP_TYPE;
}

const preferredType = memoize((accept) => choose(accept, [JSON_TYPE, HTML_TYPE]));

/** The one of `types` that an `Accept` value prefers; another text if it prefers none to a wildcard. */
function choose(accept: string, types: readonly string[]): string {
  const ranges = accept.replace(QUOTED, '""').replace(PARAMETER, "").split(",", MAX_RANGES);
  const headers = { accept: ranges.join(",") };
  return new Negotiator({ headers }).mediaTypes([NO_TYPE, ...types])[0] ?? NO_TYPE;
}

/** The media type of a `Content-Type` value in lower case, without parameters; `undefined` without a value. */
export function mediaType(contentType: string | null): string | undefined {
  if (contentType === null) return undefined;
  const [type = ""] = contentType.split(";", 1);
  return trimOptionalWhitespace(type).toLowerCase() || undefined;
}

/** Maximum length of an `Accept-Encoding` value that is parsed. */
const MAX_CODINGS_LENGTH = 500;

/** Whether an `Accept-Encoding` value prefers gzip to no compression (RFC 9110 12.5.3). */
export function acceptsGzip(acceptEncoding: string): boolean {
  const headers = { "accept-encoding": acceptEncoding.slice(0, MAX_CODINGS_LENGTH) };
  return new Negotiator({ headers }).encodings(["gzip", "identity"])[0] === "gzip";
}
