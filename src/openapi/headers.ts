import { ERRORS, SEVERAL_ERRORS } from "../http/errors.ts";
import { ERROR_CODE } from "../http/http-error.ts";
import { DRAFT_MEDIA_TYPE, TUS_VERSION } from "../http/uploads/vocabulary.ts";
import type { OpenApiOptions } from "./input-options.ts";
import type { HeaderObject } from "./types.ts";

const text = { type: "string" } as const;
const bytes = { type: "integer", minimum: 0 } as const;

/**
 * The header fields of responses, except `Content-Type` and `Content-Length`: OpenAPI does not list these as headers.
 */
export const HEADER_FIELDS = {
  Server: { description: "Name and version of the server.", required: true, schema: text },
  "Server-Path": {
    description:
      "The requested path in the account, as in FTP and SFTP. Bytes that are not printable ASCII are percent-encoded.",
    required: true,
    schema: text,
  },
  "X-Content-Type-Options": {
    description: "Always `nosniff`.",
    required: true,
    schema: { ...text, enum: ["nosniff"] },
  },
  "Cross-Origin-Resource-Policy": {
    description: "Pages of other sites cannot embed the response.",
    required: true,
    schema: { ...text, enum: ["same-origin"] },
  },
  "Cache-Control": { description: "Who may cache the response, and for how long.", required: true, schema: text },
  Vary: { description: "The request headers that the response depends on.", schema: text },
  "Content-Encoding": {
    description: "`gzip` if the request accepts it, and the content is compressed.",
    schema: { ...text, enum: ["gzip"] },
  },
  "Content-Language": { description: "The language of a page.", schema: text },
  "Content-Security-Policy": { description: "What a page, or a file shown by a browser, may load.", schema: text },
  "X-Frame-Options": { description: "No site may show the page in a frame.", schema: { ...text, enum: ["DENY"] } },
  "Referrer-Policy": {
    description: "The page sends its URL only to its own site.",
    schema: { ...text, enum: ["same-origin"] },
  },
  "X-Robots-Tag": { description: "What search engines may do.", schema: text },
  "Content-Disposition": {
    description: "The name for saving the content, as `filename` and `filename*` (RFC 6266).",
    schema: text,
  },
  "Content-Range": {
    description: "The range of bytes in the response or, with 416, the size of the file (RFC 9110 14.4).",
    schema: text,
  },
  "Repr-Digest": {
    description: "The digest of the complete file, if the request wants it and it is known (RFC 9530).",
    schema: text,
  },
  "Content-Digest": {
    description: "The digest of the content, if the request wants it and it is known (RFC 9530).",
    schema: text,
  },
  "Accept-Ranges": { description: "Byte ranges can be requested.", schema: { ...text, enum: ["bytes"] } },
  "Accept-Encoding": {
    description: "The content codings of requests: only `identity`, which is none.",
    schema: { ...text, enum: ["identity"] },
  },
  ETag: {
    description: "The entity-tag of this version of the file, or of the listing (RFC 9110 8.8.3).",
    schema: text,
  },
  "Last-Modified": { description: "When the file was last written (RFC 9110 8.8.2).", schema: text },
  Link: {
    description: 'The next page of a listing, as a path, with `rel="next"` (RFC 8288). The last page has none.',
    schema: text,
  },
  "Preference-Applied": {
    description: "What was followed of `Prefer`: sorted by name, or commands only checked (RFC 7240).",
    schema: { ...text, enum: ["order=name", "dry-run"] },
  },
  "Trash-Id": {
    description: "The ID of the entry in the trash, if what was removed is there.",
    schema: text,
  },
  "Idempotency-Replayed": {
    description: "The response is the one to an earlier request with the same `Idempotency-Key`.",
    schema: { ...text, enum: ["true"] },
  },
  Location: { description: "The target of the redirect, as a path.", required: true, schema: text },
  Allow: { description: "The methods that this URL supports (RFC 9110 10.2.1).", required: true, schema: text },
  "Content-Location": { description: "The URL of the folder, if the file's URL names one.", schema: text },
  DAV: { description: "The classes of WebDAV (RFC 4918 10.1).", schema: text },
  "MS-Author-Via": { description: "For the clients of Microsoft: folders are WebDAV folders.", schema: text },
  "Error-Code": {
    description: "A name of the failure, for programs. Hosts may have further ones.",
    required: true,
    schema: {
      anyOf: [
        { ...text, enum: [...Object.keys(ERRORS), SEVERAL_ERRORS] },
        { ...text, pattern: ERROR_CODE.source },
      ],
    },
  },
  "Retry-After": { description: "Seconds to wait before a retry.", schema: { type: "integer", minimum: 0 } },
  "Set-Cookie": {
    description: "Sets the session cookie, or deletes it.",
    required: true,
    schema: text,
  },
  "Tus-Resumable": { description: "The version of tus.", schema: { ...text, enum: [TUS_VERSION] } },
  "Tus-Version": { description: "The supported versions of tus.", schema: { ...text, enum: [TUS_VERSION] } },
  "Tus-Extension": { description: "The supported extensions of tus, separated by commas.", schema: text },
  "Tus-Max-Size": { description: "The maximum size of a file in bytes.", schema: bytes },
  "Tus-Checksum-Algorithm": {
    description: "The algorithms that `Upload-Checksum` may name, separated by commas.",
    schema: text,
  },
  "Accept-Patch": {
    description: "The media type of the content of a `PATCH` (RFC 5789 3.1).",
    schema: { ...text, enum: [DRAFT_MEDIA_TYPE] },
  },
  "Upload-Offset": { description: "The number of bytes of the upload that are stored.", schema: bytes },
  "Upload-Length": { description: "The number of bytes of the complete file.", schema: bytes },
  "Upload-Defer-Length": {
    description: "The number of bytes of the complete file is not known yet (tus).",
    schema: { ...text, enum: ["1"] },
  },
  "Upload-Complete": {
    description: "Whether the response is that to the complete file (RFC 9651 3.3.6).",
    schema: { ...text, enum: ["?0", "?1"] },
  },
  "Upload-Limit": {
    description:
      "The limits of uploads (RFC 9651 3.2): `max-size` and `max-append-size` in bytes, `max-age` in seconds, or `min-size=0` without limits.",
    schema: text,
  },
  "Upload-Expires": { description: "When the upload expires (tus), as an HTTP-date.", schema: text },
  "Upload-Metadata": { description: "The field of the request that created the upload (tus).", schema: text },
  "Upload-Concat": { description: "The field of the request that created the upload (tus).", schema: text },
  "Access-Control-Allow-Origin": {
    description: "The origin of the request, if its scripts may read the response.",
    schema: text,
  },
  "Access-Control-Expose-Headers": { description: "The headers that these scripts may read.", schema: text },
  "Access-Control-Allow-Methods": { description: "The methods that these scripts may use.", schema: text },
  "Access-Control-Allow-Headers": { description: "The headers that these scripts may send.", schema: text },
  "Access-Control-Max-Age": {
    description: "Seconds for which a browser may remember this.",
    schema: { type: "integer", minimum: 0 },
  },
  "WWW-Authenticate": {
    description: "How to log in.",
    schema: text,
  },
} as const satisfies Readonly<Record<string, HeaderObject>>;

/** Returns the header fields of a service. The options decide which challenges it has. */
export function toHeaderFields(options: OpenApiOptions): Readonly<Record<string, HeaderObject>> {
  const { announcesSession, identityChallenge } = options;
  const challenges = ['basic realm="Web files access"', announcesSession ? "session" : [], identityChallenge ?? []];
  const description = `How to log in: ${challenges
    .flat()
    .map((challenge) => `\`${challenge}\``)
    .join(", ")}.`;
  return { ...HEADER_FIELDS, "WWW-Authenticate": { ...HEADER_FIELDS["WWW-Authenticate"], description } };
}

/** The name of a header field. */
export type HeaderName = keyof typeof HEADER_FIELDS;

/** Returns whether the document describes a header field. */
export function isHeaderName(name: string): name is HeaderName {
  return Object.hasOwn(HEADER_FIELDS, name);
}

/** The header fields that every response with a status has. */
export const HEADERS_OF_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  302: ["Location"],
  303: ["Location"],
  307: ["Location"],
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  416: ["Content-Range"],
  503: ["Retry-After"],
};
