import type { LockDepth, LockScope } from "../contracts/lock.ts";
import type { StorageEntry } from "../contracts/storage-adapter.ts";
import { toHttpDate } from "../http/http-date.ts";
import { toValidators } from "../http/validators.ts";
import { davKey } from "./property-name.ts";
import { escapeXmlText } from "./xml-text.ts";

/** A lock as `lockdiscovery` shows it (RFC 4918 14.1). */
export interface ActiveLock {
  readonly scope: LockScope;
  readonly depth: LockDepth;
  /** What `parseLockBody` returned. */
  readonly owner: string;
  /** Until it ends. */
  readonly seconds: number;
  /** `undefined` hides it from those whose lock it is not. */
  readonly token: string | undefined;
  /** The path of its root, percent-encoded. */
  readonly root: string;
}

/** A resource, and what the account that asks may know of it. */
export interface DavResource {
  /** Its path, percent-encoded; that of a folder ends in `/`. */
  readonly href: string;
  readonly entry: StorageEntry;
  /** The dead properties as `parseProppatchBody` made them, by `{namespace}local`. Absent: there are none. */
  readonly properties?: ReadonlyMap<string, string> | undefined;
  /** The locks that apply to it. Absent: there are none. */
  readonly locks?: readonly ActiveLock[] | undefined;
  /** Whether the account may write it, and so lock it. */
  readonly mayWrite: boolean;
  /** Whether the account may only know that it exists, and of what kind it is. */
  readonly isHidden?: boolean | undefined;
}

/** Writes a live property of a resource; `undefined` if the resource does not have it. */
export type PropertyWriter = (resource: DavResource) => string | undefined;

const COLLECTION = "<D:resourcetype><D:collection/></D:resourcetype>";
const NO_COLLECTION = "<D:resourcetype/>";
const LOCK_TYPE = "<D:locktype><D:write/></D:locktype>";
const SUPPORTED_LOCK = `<D:supportedlock>${toLockEntry("exclusive")}${toLockEntry("shared")}</D:supportedlock>`;

/** The live properties about locks. All live properties are in the namespace `DAV:`. */
export const LOCK_PROPERTIES = ["supportedlock", "lockdiscovery"] as const;
/** The quota properties (RFC 4331), which `allprop` leaves out. */
export const QUOTA_PROPERTIES = ["quota-available-bytes", "quota-used-bytes"] as const;
/** The local names of all live properties, in the order in which they are sent. */
export const LIVE_PROPERTIES = [
  "resourcetype",
  "getcontentlength",
  "getlastmodified",
  "getetag",
  "getcontenttype",
  ...LOCK_PROPERTIES,
] as const;

/** The writers of the live properties by their keys, in the order in which they are sent. */
export function createLiveProperties(contentTypeOf: (name: string) => string): ReadonlyMap<string, PropertyWriter> {
  const writers: Readonly<Record<(typeof LIVE_PROPERTIES)[number], PropertyWriter>> = {
    resourcetype: ({ entry }) => (entry.kind === "folder" ? COLLECTION : NO_COLLECTION),
    getcontentlength: ofFile(({ size }) => `<D:getcontentlength>${size}</D:getcontentlength>`),
    getlastmodified: ({ entry }) => `<D:getlastmodified>${toHttpDate(entry.modified)}</D:getlastmodified>`,
    getetag: ofFile((entry) => `<D:getetag>${escapeXmlText(toValidators(entry).etag)}</D:getetag>`),
    getcontenttype: ofFile(({ name }) => `<D:getcontenttype>${escapeXmlText(contentTypeOf(name))}</D:getcontenttype>`),
    supportedlock: ({ mayWrite }) => (mayWrite ? SUPPORTED_LOCK : "<D:supportedlock/>"),
    lockdiscovery: ({ locks = [] }) => writeLockDiscovery(locks),
  };
  return new Map(LIVE_PROPERTIES.map((name) => [davKey(name), writers[name]]));
}

/** Writes `lockdiscovery`, which a LOCK also responds with. */
export function writeLockDiscovery(locks: readonly ActiveLock[]): string {
  if (locks.length === 0) return "<D:lockdiscovery/>";
  return `<D:lockdiscovery>${locks.map(writeActiveLock).join("")}</D:lockdiscovery>`;
}

/** Writes the body of the response to a LOCK (RFC 4918 9.10.1). */
export function writeLockResponse(locks: readonly ActiveLock[]): string {
  return `<?xml version="1.0" encoding="utf-8"?><D:prop xmlns:D="DAV:">${writeLockDiscovery(locks)}</D:prop>`;
}

function writeActiveLock({ scope, depth, owner, seconds, token, root }: ActiveLock): string {
  const shown = token === undefined ? "" : `<D:locktoken>${toHrefElement(token)}</D:locktoken>`;
  const details = `<D:depth>${depth}</D:depth>${owner}<D:timeout>Second-${Math.max(Math.floor(seconds), 0)}</D:timeout>`;
  const end = `<D:lockroot>${toHrefElement(root)}</D:lockroot></D:activelock>`;
  return `<D:activelock>${LOCK_TYPE}<D:lockscope><D:${scope}/></D:lockscope>${details}${shown}${end}`;
}

function toHrefElement(href: string): string {
  return `<D:href>${escapeXmlText(href)}</D:href>`;
}

function toLockEntry(scope: LockScope): string {
  return `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope>${LOCK_TYPE}</D:lockentry>`;
}

/** Links are not shown, so what is no folder is a file. */
function ofFile(write: (entry: StorageEntry) => string): PropertyWriter {
  return ({ entry }) => (entry.kind === "folder" ? undefined : write(entry));
}
