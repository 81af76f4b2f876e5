import { toRealSegments } from "../../account/virtual-folders.ts";
import { isPrefix } from "../../contracts/storage-path.ts";
import type { AccountContext } from "../../request/context.ts";
import { davKey } from "../../webdav/property-name.ts";
import { findNearestUsage } from "../folders/quota-usage.ts";

/** The properties of folders by their keys, as XML. */
export type FolderProperties = ReadonlyMap<string, string>;

/** The properties of RFC 4331, which `allprop` leaves out. */
export const QUOTA_PROPERTIES: readonly string[] = ["quota-available-bytes", "quota-used-bytes"].map(davKey);

/**
 * Returns the quota properties (RFC 4331) of the folders of a PROPFIND; `undefined` for a folder without a limit, and
 * for links. Folders below one limit share what it leaves, so it is asked for once.
 */
export async function findQuotaProperties(
  context: AccountContext,
): Promise<(segments: readonly string[]) => FolderProperties | undefined> {
  const { account, path, scheme } = context;
  const top = toRealSegments(account, path.segments);
  const usage = scheme === "link" ? undefined : await findNearestUsage(context);
  if (usage === undefined) return () => undefined;
  const { bytes } = usage;
  const properties = new Map([[davKey("quota-used-bytes"), `<D:quota-used-bytes>${bytes.used}</D:quota-used-bytes>`]]);
  if (bytes.available !== null) {
    const element = `<D:quota-available-bytes>${bytes.available}</D:quota-available-bytes>`;
    properties.set(davKey("quota-available-bytes"), element);
  }
  // A virtual folder may be elsewhere in the storage, where other limits hold.
  return (segments) => (isPrefix(top, toRealSegments(account, segments)) ? properties : undefined);
}

/** Returns dead properties together with those of a folder. */
export function withFolderProperties(
  properties: ReadonlyMap<string, string> | undefined,
  more: FolderProperties | undefined,
): ReadonlyMap<string, string> | undefined {
  return more === undefined ? properties : new Map([...(properties ?? []), ...more]);
}
