import { parseHttpDate } from "../http/http-date.ts";
import { LIVE_PROPERTIES, QUOTA_PROPERTIES } from "./live-properties.ts";
import { EMPTY_PROPSTAT, type PropertyStatus, writePropstat, writeResponse } from "./multistatus.ts";
import { davKey, type PropertyName, toPropertyKey, writePropertyName } from "./property-name.ts";
import type { PropertyChange } from "./proppatch-body.ts";

/** What a PROPPATCH does, before the storage is asked. */
export interface ChangePlan {
  /** Each changed property once, in the order of the request. */
  readonly names: readonly PropertyName[];
  /** The dead properties by `{namespace}local`: the XML to store, or `undefined` to remove one. */
  readonly properties: ReadonlyMap<string, string | undefined>;
  /** The time that the resource shall have. */
  readonly modified: Date | undefined;
  /** The properties that set `modified` and that fail if the storage cannot set it. */
  readonly timeKeys: readonly string[];
  /** The properties that cannot be changed as the client wants, by key. If there is one, nothing is changed. */
  readonly refused: ReadonlyMap<string, PropertyStatus>;
}

/** What Explorer sets after each upload: the response has 200 for all of them, and none is stored. */
const WINDOWS_KEYS: ReadonlySet<string> = new Set(
  ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime", "Win32FileAttributes"].map(toWindowsKey),
);
const WINDOWS_MODIFIED = toWindowsKey("Win32LastModifiedTime");
/** `lastmodified` is what some clients call it. */
const TIME_KEYS: ReadonlySet<string> = new Set(["getlastmodified", "lastmodified"].map(davKey));
/** The quota of RFC 4331 is protected, too: a stored value would look like a real one. */
const PROTECTED: ReadonlySet<string> = new Set([...LIVE_PROPERTIES, ...QUOTA_PROPERTIES].map(davKey));

/** Windows has no earlier times. */
const EARLIEST = Date.UTC(1601, 0);

/** Plans the changes of a PROPPATCH. If a property is changed twice, the last change counts (WEBDAV 5). */
export function planChanges(changes: readonly PropertyChange[], now: number): ChangePlan {
  const last = new Map(changes.map((change) => [toPropertyKey(change.name), change]));
  const properties = new Map<string, string | undefined>();
  const refused = new Map<string, PropertyStatus>();
  const timeKeys: string[] = [];
  let modified: Date | undefined;
  for (const [key, change] of last) {
    const isTime = change.kind === "set" && (key === WINDOWS_MODIFIED || TIME_KEYS.has(key));
    const time = isTime ? parseTime(change.text, now) : undefined;
    if (time !== undefined) modified = new Date(time);
    if (WINDOWS_KEYS.has(key)) continue;
    if (time !== undefined) timeKeys.push(key);
    else if (isTime) refused.set(key, 409);
    else if (PROTECTED.has(key)) refused.set(key, 403);
    else properties.set(key, change.kind === "set" ? change.xml : undefined);
  }
  return { names: [...last.values()].map(({ name }) => name), properties, modified, timeKeys, refused };
}

/** Returns `undefined` for a time before 1601, too: clients send the year 1 for a time that is not set. */
function parseTime(text: string, now: number): number | undefined {
  const time = parseHttpDate(text.trim(), now);
  return time !== undefined && time >= EARLIEST ? time : undefined;
}

/** Whether the plan needs only the permission to write, because it has no properties but `Win32*`. */
export function needsOnlyWrite({ properties, timeKeys, refused }: ChangePlan): boolean {
  return properties.size === 0 && timeKeys.length === 0 && refused.size === 0;
}

/**
 * Writes the `<D:response>` of a PROPPATCH (RFC 4918 9.2). `failed` are the properties that failed, by key; without
 * one, all changes were made. If one failed, no change was made, and the others have 424.
 */
export function writeChanges(
  href: string,
  { names, refused }: ChangePlan,
  failed: ReadonlyMap<string, PropertyStatus>,
): string {
  const groups = new Map<PropertyStatus, string>();
  for (const name of names) {
    const status = failed.get(toPropertyKey(name)) ?? (failed.size === 0 ? 200 : 424);
    groups.set(status, (groups.get(status) ?? "") + writePropertyName(name));
  }
  const propstats = [...groups].map(([status, content]) =>
    // A storage that keeps no such property protects nothing.
    writePropstat(status, content, status === 403 && refused.size > 0 ? "cannot-modify-protected-property" : undefined),
  );
  return writeResponse(href, propstats.join("") || EMPTY_PROPSTAT);
}

function toWindowsKey(name: string): string {
  return `{urn:schemas-microsoft-com:}${name}`;
}
