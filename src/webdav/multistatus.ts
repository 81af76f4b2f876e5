import { type HeaderFields, type Reply, textReply } from "../http/reply.ts";
import { escapeXmlText } from "./xml-text.ts";

/** The media type of the documents in this file. */
export const XML_TYPE = "application/xml; charset=utf-8";
/** What a response of several resources begins and ends with (RFC 4918 13). */
export const MULTISTATUS_START = '<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:">';
export const MULTISTATUS_END = "</D:multistatus>";

/** The statuses of properties. */
export type PropertyStatus = keyof typeof STATUS_LINES;

const STATUS_LINES = {
  200: "HTTP/1.1 200 OK",
  403: "HTTP/1.1 403 Forbidden",
  404: "HTTP/1.1 404 Not Found",
  409: "HTTP/1.1 409 Conflict",
  424: "HTTP/1.1 424 Failed Dependency",
  507: "HTTP/1.1 507 Insufficient Storage",
} as const;

/** Conditions of RFC 4918 16 that responses have. */
export type DavCondition =
  | "lock-token-submitted"
  | "no-conflicting-lock"
  | "lock-token-matches-request-uri"
  | "propfind-finite-depth"
  | "cannot-modify-protected-property";

/** What `encodeURIComponent` escapes, but RFC 3986 allows in a segment. */
const NEEDLESS = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;
const SEGMENT = /^[\w.~!$&'()*+,;=:@-]*$/;

/**
 * Percent-encodes a segment of a path but for what RFC 3986 allows there (`pchar`): some clients compare URLs without
 * decoding them. The service has no names with a lone surrogate.
 */
export function encodeSegment(name: string): string {
  if (SEGMENT.test(name)) return name;
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\ufffd")).replace(NEEDLESS, decodeURIComponent);
}

/** Writes what a response says of one resource. `href` is a path that is encoded already. */
export function writeResponse(href: string, propstats: string): string {
  return `<D:response><D:href>${escapeXmlText(href)}</D:href>${propstats}</D:response>`;
}

/**
 * Writes properties that have one status; nothing if there are none. `content` are elements, and `condition` says why.
 */
export function writePropstat(status: PropertyStatus, content: string, condition?: DavCondition): string {
  if (content === "") return "";
  return `${PROPSTAT_START}${content}${propstatEnd(status, condition)}`;
}

/** A response needs at least one status, also if no property has one (RFC 8144 2.1). */
export const EMPTY_PROPSTAT = `<D:propstat><D:prop/><D:status>${STATUS_LINES[200]}</D:status></D:propstat>`;

/** What stands before and after properties with one status. */
export const PROPSTAT_START = "<D:propstat><D:prop>";

/** What stands after properties with one status. */
export function propstatEnd(status: PropertyStatus, condition?: DavCondition): string {
  const error = condition === undefined ? "" : `<D:error><D:${condition}/></D:error>`;
  return `</D:prop><D:status>${STATUS_LINES[status]}</D:status>${error}</D:propstat>`;
}

/** Writes the body of an error with a condition, and the paths of the resources that it is about. */
export function writeError(condition: DavCondition, hrefs: readonly string[] = []): string {
  const content = hrefs.map((href) => `<D:href>${escapeXmlText(href)}</D:href>`).join("");
  const element = content === "" ? `<D:${condition}/>` : `<D:${condition}>${content}</D:${condition}>`;
  return `<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:">${element}</D:error>`;
}

/** A reply with a complete XML document. */
export function xmlReply(status: number, document: string, fields: HeaderFields = {}): Reply {
  return textReply(status, document, { ...fields, "Content-Type": XML_TYPE });
}
