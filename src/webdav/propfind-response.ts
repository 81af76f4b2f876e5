import { createLiveProperties, type DavResource, LOCK_PROPERTIES, type PropertyWriter } from "./live-properties.ts";
import { EMPTY_PROPSTAT, PROPSTAT_START, propstatEnd, writePropstat, writeResponse } from "./multistatus.ts";
import { davKey, type PropertyName, parsePropertyKey, toPropertyKey, writePropertyName } from "./property-name.ts";
import type { PropfindQuery } from "./propfind-body.ts";

/** What a PROPFIND needs besides its body. */
export interface PropfindOptions {
  /** The media type of a file by its name. */
  readonly contentTypeOf: (name: string) => string;
  /** Whether properties that a resource does not have are left out (`prefersMinimalReturn`). */
  readonly isMinimal: boolean;
}

/** Writes the `<D:response>` of one resource. */
export type ResponseWriter = (resource: DavResource) => string;

/** The properties of a resource, as elements. */
interface Found {
  readonly found: string;
  /** Elements without content. */
  readonly missing: string;
}

/** A property that is asked for by name. */
interface Asked {
  readonly key: string;
  readonly element: string;
  readonly write: PropertyWriter | undefined;
}

/** Which locks a PROPFIND asks for. */
export interface AskedLocks {
  /** Whether the response may have the locks of a resource. */
  readonly needsLocks: boolean;
  /** Whether the client has asked for them by name. */
  readonly isLockNamed: boolean;
  /** Whether the response has what locks a resource can have: of every resource, or only of locked ones. */
  readonly needsMayWrite: "always" | "if-locked" | "never";
}

const SUPPORTED_LOCK = davKey("supportedlock");
const LOCK_DISCOVERY = davKey("lockdiscovery");
const RESOURCE_TYPE = davKey("resourcetype");
const OF_LOCKS: ReadonlySet<string> = new Set(LOCK_PROPERTIES.map(davKey));
const [OK_END, FORBIDDEN_END, MISSING_END] = [propstatEnd(200), propstatEnd(403), propstatEnd(404)];

/** Which locks a PROPFIND asks for, so that no others are looked for. */
export function toAskedLocks(query: PropfindQuery): AskedLocks {
  if (query.kind === "propname") return { needsLocks: false, isLockNamed: false, needsMayWrite: "never" };
  const keys = (query.kind === "prop" ? query.names : query.include).map(toPropertyKey);
  const needsAllMayWrite = keys.includes(SUPPORTED_LOCK);
  const isLockNamed = keys.includes(LOCK_DISCOVERY);
  if (query.kind === "allprop") {
    return { needsLocks: true, isLockNamed, needsMayWrite: needsAllMayWrite ? "always" : "if-locked" };
  }
  return { needsLocks: isLockNamed, isLockNamed, needsMayWrite: needsAllMayWrite ? "always" : "never" };
}

/**
 * Prepares the responses of a PROPFIND (RFC 4918 9.1). What is the same for all resources is computed once, because a
 * folder may have 100,000 members.
 */
export function createResponseWriter(query: PropfindQuery, options: PropfindOptions): ResponseWriter {
  const live = createLiveProperties(options.contentTypeOf);
  const describe = createDescription(query, live);
  const hidden = createHiddenPropstats(query, live);

  return function write(resource) {
    if (resource.isHidden === true) return writeResponse(resource.href, hidden(resource));
    const { found, missing } = describe(resource);
    const shown = options.isMinimal ? "" : missing;
    const ok = found === "" ? "" : PROPSTAT_START + found + OK_END;
    const absent = shown === "" ? "" : PROPSTAT_START + shown + MISSING_END;
    return writeResponse(resource.href, ok + absent || EMPTY_PROPSTAT);
  };
}

function createDescription(
  query: PropfindQuery,
  live: ReadonlyMap<string, PropertyWriter>,
): (resource: DavResource) => Found {
  if (query.kind === "prop") return createNamed(query.names, live);
  if (query.kind === "propname") return (resource) => ({ found: writeNames(resource, live), missing: "" });
  return createAll(query.include, live);
}

/** `prop`: properties in the order of the request. */
function createNamed(
  names: readonly PropertyName[],
  live: ReadonlyMap<string, PropertyWriter>,
): (resource: DavResource) => Found {
  const asked = toAsked(names, live);

  return function describe(resource) {
    let found = "";
    let missing = "";
    for (const { key, element, write } of asked) {
      const text = write === undefined ? resource.properties?.get(key) : write(resource);
      if (text === undefined) missing += element;
      else found += text;
    }
    return { found, missing };
  };
}

/** `allprop`: the live properties and the dead ones. Those about locks only if there is a lock: they are large. */
function createAll(
  include: readonly PropertyName[],
  live: ReadonlyMap<string, PropertyWriter>,
): (resource: DavResource) => Found {
  const names = include.filter((name) => !live.has(toPropertyKey(name)) || OF_LOCKS.has(toPropertyKey(name)));
  const included = new Set(names.map(toPropertyKey));
  const describeIncluded = createNamed(names, live);
  const always = [...live].filter(([key]) => !OF_LOCKS.has(key)).map(([, write]) => write);
  const ifLocked = [...live].filter(([key]) => OF_LOCKS.has(key) && !included.has(key)).map(([, write]) => write);

  return function describe(resource) {
    const { properties, locks } = resource;
    let found = writeAll(always, resource);
    if (locks !== undefined && locks.length > 0) found += writeAll(ifLocked, resource);
    if (properties !== undefined) for (const [key, xml] of properties) if (!included.has(key)) found += xml;
    if (names.length === 0) return { found, missing: "" };
    const more = describeIncluded(resource);
    return { found: found + more.found, missing: more.missing };
  };
}

function writeAll(writers: readonly PropertyWriter[], resource: DavResource): string {
  let text = "";
  for (const write of writers) text += write(resource) ?? "";
  return text;
}

/** `propname`: the names of the properties that the resource has. */
function writeNames(resource: DavResource, live: ReadonlyMap<string, PropertyWriter>): string {
  const keys = [...live].filter(([, write]) => write(resource) !== undefined).map(([key]) => key);
  const names = [...keys, ...(resource.properties?.keys() ?? [])].map(parsePropertyKey);
  return names.map((name) => (name === undefined ? "" : writePropertyName(name))).join("");
}

/** The account may see of what kind the resource is; other properties that it asks for by name are refused. */
function createHiddenPropstats(
  query: PropfindQuery,
  live: ReadonlyMap<string, PropertyWriter>,
): (resource: DavResource) => string {
  if (query.kind === "propname") return () => writePropstat(200, "<D:resourcetype/>");
  const asked = toAsked(query.kind === "prop" ? query.names : query.include, live);
  const isShown = query.kind === "allprop" || asked.some(({ key }) => key === RESOURCE_TYPE);
  const refused = asked.map(({ key, element }) => (key === RESOURCE_TYPE ? "" : element)).join("");
  const forbidden = refused === "" ? "" : PROPSTAT_START + refused + FORBIDDEN_END;
  const write = live.get(RESOURCE_TYPE);
  return (resource) => writePropstat(200, (isShown && write?.(resource)) || "") + forbidden || EMPTY_PROPSTAT;
}

function toAsked(names: readonly PropertyName[], live: ReadonlyMap<string, PropertyWriter>): readonly Asked[] {
  return names.map((name) => {
    const key = toPropertyKey(name);
    return { key, element: writePropertyName(name), write: live.get(key) };
  });
}
