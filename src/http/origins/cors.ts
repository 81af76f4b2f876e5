import type { Reply } from "../reply.ts";

/** Which other origins may read the service's responses by a script (Fetch standard, CORS protocol). */
export interface Cors {
  readonly origins: ReadonlySet<string>;
  /** How long a browser may remember the response to a preflight, in seconds. */
  readonly maxAgeSeconds: number;
  /** The header of the metadata of uploads. */
  readonly metadataHeader: string | undefined;
}

/** The header fields of responses that scripts may read, besides those that every script may. */
const EXPOSED = [
  "Error-Code",
  "Link",
  "Content-Range",
  "Location",
  "ETag",
  "Last-Modified",
  "Preference-Applied",
  "Server-Path",
  "Retry-After",
  "Allow",
  "WWW-Authenticate",
  "Accept-Patch",
  "Content-Location",
  "Content-Disposition",
  "Accept-Ranges",
  "Content-Digest",
  "Repr-Digest",
  "Idempotency-Replayed",
  "Trash-Id",
  "DAV",
  "Lock-Token",
  "Upload-Offset",
  "Upload-Length",
  "Upload-Defer-Length",
  "Upload-Complete",
  "Upload-Limit",
  "Upload-Expires",
  "Upload-Metadata",
  "Upload-Concat",
  "Tus-Resumable",
  "Tus-Version",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Checksum-Algorithm",
].join(", ");

/** The header fields of requests that the service reads and that browsers ask for. */
const READ = [
  "Authorization",
  "Content-Type",
  "Accept",
  "Prefer",
  "X-Requested-With",
  "X-Request-ID",
  "X-Sender",
  "X-Permanent",
  "Range",
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
  "Depth",
  "Destination",
  "If",
  "Lock-Token",
  "Overwrite",
  "Timeout",
  "Content-Disposition",
  "Content-Digest",
  "Repr-Digest",
  "Want-Content-Digest",
  "Want-Repr-Digest",
  "Idempotency-Key",
  "Upload-Offset",
  "Upload-Length",
  "Upload-Defer-Length",
  "Upload-Complete",
  "Upload-Draft-Interop-Version",
  "Upload-Metadata",
  "Upload-Checksum",
  "Upload-Concat",
  "Tus-Resumable",
  "X-HTTP-Method-Override",
  "traceparent",
  "tracestate",
];

/**
 * The header fields that let a script of the request's origin read the response; none for an origin that is not listed.
 * `allow` is the URL's `Allow`, for the response to a preflight.
 *
 * There is never `Access-Control-Allow-Credentials`: no script of another origin uses what the browser holds, such as
 * the session cookie or a certificate. It has to send an `Authorization` header of its own.
 */
export function toCorsFields(cors: Cors, { method, headers }: Request, allow: string | undefined): Reply["headers"] {
  const origin = headers.get("origin");
  if (origin === null || !cors.origins.has(origin)) return [];
  const fields: Reply["headers"] = [
    ["Access-Control-Allow-Origin", origin],
    ["Access-Control-Expose-Headers", EXPOSED],
  ];
  if (method !== "OPTIONS" || allow === undefined || !headers.has("access-control-request-method")) return fields;
  const { metadataHeader, maxAgeSeconds } = cors;
  return [
    ...fields,
    ["Access-Control-Allow-Methods", allow],
    ["Access-Control-Allow-Headers", [...READ, ...(metadataHeader === undefined ? [] : [metadataHeader])].join(", ")],
    ["Access-Control-Max-Age", String(maxAgeSeconds)],
  ];
}
