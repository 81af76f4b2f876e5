import { isStrongMatch, matchesWeakly } from "../contracts/entity-tags.ts";
import { createError } from "../http/errors.ts";
import { isStateToken } from "./lock-token.ts";

/** One condition of a list. */
export interface IfCondition {
  readonly kind: "token" | "etag";
  /** The token without `<` and `>`, or the entity-tag with its quotes. */
  readonly value: string;
  readonly isNegated: boolean;
}

/** Conditions that must all hold. */
export interface IfList {
  /** The URL of `Resource-Tag` as sent; `undefined` for the URL of the request. */
  readonly resource: string | undefined;
  readonly conditions: readonly IfCondition[];
}

/** What is known of a resource. */
export interface ResourceState {
  /** The tokens of the locks that apply to it. */
  readonly tokens: readonly string[];
  /** The entity-tag with its quotes, if there is one. */
  readonly etag: string | undefined;
}

/** Longer headers are refused. */
const MAX_CHARACTERS = 8 * 1024;
const MAX_CONDITIONS = 100;
/** A state that no resource ever has (RFC 4918 10.4.8). */
const NO_LOCK = "DAV:no-lock";

/**
 * The next sign of the header: a URL in `<>`, an entity-tag in `[]`, `Not`, or a parenthesis. An entity-tag may have
 * spaces, as in the examples of RFC 4918. It can match in only one way, so reading all of them takes linear time.
 */
const SIGN =
  /[ \t]*(?:<([!#-;=?-~]+)>|\[((?:W\/)?"[ \x21\x23-\x7e\x80-\xff]*")\]|([Nn][Oo][Tt])(?=[ \t<[])|([()]))[ \t]*/y;

/** What has been read so far. */
interface Progress {
  readonly lists: IfList[];
  resource: string | undefined;
  /** Whether the tag has a list already. */
  isTagUsed: boolean;
  /** The conditions of the open list. */
  open: IfCondition[] | undefined;
  isNegated: boolean;
  conditions: number;
}

/**
 * Parses the `If` header (RFC 4918 10.4.2); `undefined` if it is absent.
 * @throws HttpError `malformed` if it is malformed, has more than 8 KiB or more than 100 conditions.
 */
export function parseIf(headers: Headers): readonly IfList[] | undefined {
  const value = headers.get("if");
  if (value === null) return undefined;
  const lists = value.length > MAX_CHARACTERS ? undefined : parseLists(value);
  if (lists === undefined) throw createError("if-invalid");
  return lists;
}

function parseLists(value: string): readonly IfList[] | undefined {
  const progress: Progress = {
    lists: [],
    resource: undefined,
    isTagUsed: true,
    open: undefined,
    isNegated: false,
    conditions: 0,
  };
  for (let at = 0; at < value.length; at = SIGN.lastIndex) {
    SIGN.lastIndex = at;
    const sign = SIGN.exec(value);
    if (sign === null || !take(sign, progress)) return undefined;
  }
  const { lists, open, isTagUsed } = progress;
  return lists.length > 0 && open === undefined && isTagUsed ? lists : undefined;
}

/** Takes one sign; false if it must not stand there. */
function take(sign: RegExpExecArray, progress: Progress): boolean {
  const [, url, etag, not, parenthesis] = sign;
  const { open, isNegated } = progress;
  if (open === undefined) return url === undefined ? parenthesis === "(" && openList(progress) : tag(url, progress);
  if (not !== undefined) {
    progress.isNegated = true;
    return !isNegated;
  }
  if (parenthesis !== undefined) return parenthesis === ")" && !isNegated && closeList(open, progress);
  if (url !== undefined && !isStateToken(url)) return false;
  open.push(
    url !== undefined ? { kind: "token", value: url, isNegated } : { kind: "etag", value: etag ?? "", isNegated },
  );
  progress.isNegated = false;
  progress.conditions++;
  return progress.conditions <= MAX_CONDITIONS;
}

/** Lists have tags, or none has one; and a tag has at least one list. */
function tag(url: string, progress: Progress): boolean {
  const { lists, resource, isTagUsed } = progress;
  if (lists.length > 0 && resource === undefined) return false;
  if (!isTagUsed || !(url.startsWith("/") || isStateToken(url))) return false;
  progress.resource = url;
  progress.isTagUsed = false;
  return true;
}

function openList(progress: Progress): boolean {
  progress.open = [];
  progress.isTagUsed = true;
  return true;
}

function closeList(conditions: readonly IfCondition[], progress: Progress): boolean {
  progress.lists.push({ resource: progress.resource, conditions });
  progress.open = undefined;
  return conditions.length > 0;
}

/** The URLs that lists are about, each once; `undefined` stands for the URL of the request. */
export function resourcesOf(lists: readonly IfList[]): readonly (string | undefined)[] {
  return [...new Set(lists.map(({ resource }) => resource))];
}

/** All tokens of the header. Each is submitted, whatever its list is about, and also if it is negated. */
export function tokensOf(lists: readonly IfList[]): readonly string[] {
  const conditions = lists.flatMap((list) => list.conditions);
  return [...new Set(conditions.filter(({ kind }) => kind === "token").map(({ value }) => value))];
}

/**
 * Whether at least one list holds (RFC 4918 10.4.3). `stateOf` returns the state of what a URL names; `undefined` if
 * nothing is there, and `"elsewhere"` if it is on another host: such a list never holds.
 */
export function evaluateIf(
  lists: readonly IfList[],
  stateOf: (resource: string | undefined) => ResourceState | "elsewhere" | undefined,
): boolean {
  return lists.some(({ resource, conditions }) => {
    const state = stateOf(resource);
    return state !== "elsewhere" && conditions.every((condition) => holds(condition, state) !== condition.isNegated);
  });
}

/** Whether a resource has a state, without the negation. A missing resource has none. */
function holds({ kind, value }: IfCondition, state: ResourceState | undefined): boolean {
  if (state === undefined) return false;
  if (kind === "token") return value !== NO_LOCK && state.tokens.includes(value);
  const { etag } = state;
  if (etag === undefined) return false;
  return value.startsWith("W/") ? matchesWeakly(etag, [value]) : isStrongMatch(value, etag);
}
