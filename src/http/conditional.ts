import { isStrongMatch, matchesStrongly, matchesWeakly } from "../contracts/entity-tags.ts";
import type { EntityTags } from "../contracts/storage-adapter.ts";
import { parseHttpDate } from "./http-date.ts";
import { HttpError } from "./http-error.ts";
import { isGetOrHead } from "./methods.ts";

/** The validators of what is selected (RFC 9110 8.8). */
export interface Validators {
  /** Entity-tag with its quotes, `W/` before a weak one. */
  readonly etag: string;
  readonly modified: Date;
}

/** What the preconditions of a request come to. */
export type Precondition = "met" | "failed" | "not-modified";

/** One element of a list (RFC 9110 5.6.1), which may be empty, up to its comma or the end; it can match in one way only. */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/**
 * Reads the entity-tags of a header; `undefined` when it is absent.
 * @throws HttpError `malformed` for anything but `*` or a list of entity-tags.
 */
export function parseEntityTags(headers: Headers, name: "if-match" | "if-none-match"): EntityTags | undefined {
  const value = headers.get(name)?.trim();
  if (value === undefined) return undefined;
  if (value === "*") return "*";
  const tags = readElements(value);
  if (tags.length === 0) throw new HttpError("malformed", `The ${name} header is not a list of entity-tags.`);
  return tags;
}

/** The entity-tags of a list; none when any of it is something else. */
function readElements(list: string): readonly string[] {
  const tags: string[] = [];
  for (ELEMENT.lastIndex = 0; ELEMENT.lastIndex < list.length; ) {
    const match = ELEMENT.exec(list);
    if (match === null) return [];
    if (match[1] !== undefined) tags.push(match[1]);
  }
  return tags;
}

/** Header fields that a change of what is there depends on (RFC 9110 13.1): `If-Modified-Since` is for reading alone. */
const CHANGE_CONDITIONS = ["if-match", "if-none-match", "if-unmodified-since"] as const;

/** Whether a change that is asked for has a condition. */
export function isConditionalChange({ headers }: Request): boolean {
  return CHANGE_CONDITIONS.some((name) => headers.get(name) !== null);
}

/**
 * Evaluates a request's preconditions in the order of RFC 9110 13.2.2, without `If-Range`. `current` are the
 * validators of what is there, `undefined` when nothing is.
 * @throws HttpError `malformed` for an unreadable list of entity-tags.
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
    if (unmodifiedSince !== undefined && seconds(current.modified) > unmodifiedSince) return "failed";
  }

  if (ifNoneMatch !== undefined) {
    if (current !== undefined && matchesWeakly(current.etag, ifNoneMatch)) return reads ? "not-modified" : "failed";
  } else if (reads && current !== undefined) {
    const modifiedSince = parseHttpDate(headers.get("if-modified-since"), now);
    if (modifiedSince !== undefined && seconds(current.modified) <= modifiedSince) return "not-modified";
  }
  return "met";
}

/**
 * Whether `If-Range` lets the `Range` header count (RFC 9110 13.1.5): a strong entity-tag that matches, or the exact
 * `Last-Modified` date, which is a strong validator only when it is at least a second older than the answer.
 */
export function mayUseRange(headers: Headers, current: Validators, now: number): boolean {
  const value = headers.get("if-range")?.trim();
  if (value === undefined) return true;
  if (value.startsWith('"')) return isStrongMatch(value, current.etag);
  const date = parseHttpDate(value, now);
  return date === seconds(current.modified) && date + 1000 <= now;
}

/** HTTP-dates count whole seconds. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
