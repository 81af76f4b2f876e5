import { isMountEntry } from "../../account/virtual-folders.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import type { AccountContext } from "../../request/context.ts";
import { davKey } from "../../webdav/property-name.ts";
import { type FolderUsage, findInTime, findNearestUsage } from "../folders/quota-usage.ts";

/** A listing does not wait longer for a count, in milliseconds: that folder then has no such properties. */
const PATIENCE_MS = 5000;

/** Properties by their keys, as XML. */
type PropertyTexts = ReadonlyMap<string, string>;

/** Returns the dead properties of a folder, which has this entry in a listing, with those of its quota. */
export type QuotaPropertiesOf = (
  segments: readonly string[],
  entry: StorageEntry,
  dead: PropertyTexts | undefined,
) => Promise<PropertyTexts | undefined>;

/**
 * Adds the quota properties (RFC 4331) to those of the folders of a PROPFIND, but not for a folder without a limit, nor
 * below a link. They are asked for once for all folders that share them: those in one storage with one nearest limit.
 */
export function createQuotaProperties(context: AccountContext): QuotaPropertiesOf {
  const { account, config, files, scheme } = context;
  const tops = [...(config.quota?.folders ?? []), account.quota].map(({ path }) => path);
  const known = new Map<string, Promise<FolderUsage | undefined>>();

  return async (segments, entry, dead) => {
    if (scheme === "link") return dead;
    const real = files.realPathOf(segments);
    if (isMountEntry(entry)) tops.push(real);
    const around = tops.filter((top) => isWithinFolder(real, top)).join("//");
    const asked = known.get(around) ?? findInTime(findNearestUsage(context, segments), PATIENCE_MS);
    known.set(around, asked);
    const usage = await asked;
    if (usage === undefined) return dead;
    const properties = new Map(dead);
    const { available, used } = usage.bytes;
    for (const [name, value] of Object.entries({ available, used })) {
      if (value !== null)
        properties.set(davKey(`quota-${name}-bytes`), `<D:quota-${name}-bytes>${value}</D:quota-${name}-bytes>`);
    }
    return properties;
  };
}
