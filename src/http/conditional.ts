import { isStrongMatch, matchesStrongly, matchesWeakly } from "../contracts/entity-tags.ts";
import type { EntityTags } from "../contracts/storage-adapter.ts";
import { createError } from "./errors.ts";
import { parseHttpDate } from "./http-date.ts";
import { isGetOrHead } from "./methods.ts";
import { trimOptionalWhitespace } from "./optional-whitespace.ts";

/** The validators of the current representation (RFC 9110 8.8). */
export interface Validators {
  /** The entity-tag with its quotes; a weak one begins with `W/`. */
  readonly etag: string;
  readonly modified: Date;
}

/** The result of a request's preconditions. */
export type Precondition = "met" | "failed" | "not-modified";

/**
 * One element of a list, which may be empty (RFC 9110 5.6.1), up to its comma or the end. It can match in only one way,
 * so matching takes linear time.
 */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Parses the entity-tags of a header; `undefined` if the header is missing.
 * @throws HttpError `malformed` for anything but `*` or a list of entity-tags.
 */
export function parseEntityTags(headers: Headers, name: "if-match" | "if-none-match"): EntityTags | undefined {
  const field = headers.get(name);
  if (field === null) return undefined;
  const value = trimOptionalWhitespace(field);
  if (value === "*") return "*";
  const tags = readElements(value);
  if (tags.length === 0) throw createError("entity-tags-invalid", { values: { header: name } });
  return tags;
}

/** The entity-tags of a list; none if the list is malformed. */
function readElements(list: string): readonly string[] {
  const tags: string[] = [];
  for (ELEMENT.lastIndex = 0; ELEMENT.lastIndex < list.length; ) {
    const match = ELEMENT.exec(list);
    if (match === null) return [];
    if (match[1] !== undefined) tags.push(match[1]);
  }
  return tags;
}

/** The conditions of a change (RFC 9110 13.1). `If-Modified-Since` is only for reading. */
const CHANGE_CONDITIONS = ["if-match", "if-none-match", "if-unmodified-since"] as const;

/** Whether a request to change something has a condition. */
export function isConditionalChange({ headers }: Request): boolean {
  return CHANGE_CONDITIONS.some((name) => headers.get(name) !== null);
}

/**
 * Evaluates the preconditions of a request in the order of RFC 9110 13.2.2, without `If-Range`. `current` are the
 * validators of the existing file; `undefined` if there is none.
 * @throws HttpError `malformed` for a malformed list of entity-tags.
 */
export function evaluatePreconditions(request: Request, current: Validators | undefined, now: number): Precondition {
  const { headers } = request;
  const reads = isGetOrHead(request.method);
  const ifMatch = parseEntityTags(headers, "if-match");
  const ifNoneMatch = parseEntityTags(headers, "if-none-match");

  if (ifMatch !== undefined) {
    if (current === undefined || !matchesStrongly(current.etag, ifMatch)) return "failed";
  } else if (current !== undefined) {
    const unmodifiedSince = parseHttpDate(headers.get("if-unmodified-since"), now);
    if (unmodifiedSince !== undefined && toWholeSecond(current.modified) > unmodifiedSince) return "failed";
  }

  if (ifNoneMatch !== undefined) {
    if (current !== undefined && matchesWeakly(current.etag, ifNoneMatch)) return reads ? "not-modified" : "failed";
  } else if (reads && current !== undefined) {
    const modifiedSince = parseHttpDate(headers.get("if-modified-since"), now);
    if (modifiedSince !== undefined && toWholeSecond(current.modified) <= modifiedSince) return "not-modified";
  }
  return "met";
}

/**
 * Whether the `Range` header applies, according to `If-Range` (RFC 9110 13.1.5). It does if `If-Range` has the current
 * strong entity-tag, or exactly the current `Last-Modified` date. That date is a strong validator only if it is at
 * least one second older than the response.
 */
export function mayUseRange(headers: Headers, current: Validators, now: number): boolean {
  const field = headers.get("if-range");
  if (field === null) return true;
  const value = trimOptionalWhitespace(field);
  if (value.startsWith('"')) return isStrongMatch(value, current.etag);
  const date = parseHttpDate(value, now);
  return date === toWholeSecond(current.modified) && date + 1000 <= now;
}

/** The time in milliseconds, without the fraction of its second: HTTP-dates have whole seconds. */
function toWholeSecond(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
