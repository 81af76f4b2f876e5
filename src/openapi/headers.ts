import type { OpenApiOptions } from "./input-options.ts";
import type { HeaderObject } from "./types.ts";

const text = { type: "string" } as const;

/**
 * The header fields of responses, except `Content-Type` and `Content-Length`: OpenAPI does not list these as headers.
 */
export const HEADER_FIELDS = {
  Server: { description: "Name and version of the server.", required: true, schema: text },
  "Server-Path": {
    description:
      "The account's path that the request was for, as FTP and SFTP have it, percent-encoded where a byte is not printable ASCII.",
    required: true,
    schema: text,
  },
  "X-Content-Type-Options": {
    description: "Always `nosniff`.",
    required: true,
    schema: { ...text, enum: ["nosniff"] },
  },
  "Cache-Control": { description: "How long the answer may be kept, and by whom.", required: true, schema: text },
  Vary: { description: "The request's fields that the answer depends on.", schema: text },
  "Content-Language": { description: "The language of a page.", schema: text },
  "Content-Security-Policy": { description: "What a page, or a user's file that is shown, may load.", schema: text },
  "X-Frame-Options": { description: "That no site may frame a page.", schema: { ...text, enum: ["DENY"] } },
  "Referrer-Policy": {
    description: "That a page names itself to its own site alone.",
    schema: { ...text, enum: ["same-origin"] },
  },
  "Content-Disposition": {
    description: "The name to save the content under, as `filename` and `filename*` (RFC 6266).",
    schema: text,
  },
  "Content-Range": {
    description: "Which bytes of the file these are, or its size where none can be given (RFC 9110 14.4).",
    schema: text,
  },
  "Accept-Ranges": { description: "That ranges of bytes can be asked for.", schema: { ...text, enum: ["bytes"] } },
  "Accept-Encoding": {
    description: "The codings of content that a request may have: none.",
    schema: { ...text, enum: ["identity"] },
  },
  ETag: { description: "Tells this version of the file from others (RFC 9110 8.8.3).", schema: text },
  "Last-Modified": { description: "When the file was written (RFC 9110 8.8.2).", schema: text },
  Location: { description: "Where to go, as a path.", required: true, schema: text },
  Allow: { description: "The methods that this URL has (RFC 9110 10.2.1).", required: true, schema: text },
  "Retry-After": { description: "Seconds until it is worth another try.", schema: { type: "integer", minimum: 0 } },
  "Set-Cookie": {
    description: "The cookie `SVC_HTTP_SESSION` of the session, or its end.",
    required: true,
    schema: text,
  },
  "WWW-Authenticate": {
    description: 'How to log in: `basic realm="Web files access"`, `session`.',
    schema: text,
  },
} as const satisfies Readonly<Record<string, HeaderObject>>;

/** Returns the header fields of a service. The options decide whether sessions are among its challenges. */
export function toHeaderFields({ announcesSession }: OpenApiOptions): Readonly<Record<string, HeaderObject>> {
  if (announcesSession) return HEADER_FIELDS;
  const description = 'How to log in: `basic realm="Web files access"`.';
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
