import { laterKey } from "../object-store/first-members.ts";
import { isKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "../object-store/keys.ts";
import { createListedMarker } from "../object-store/member-pages.ts";
import type { MarkedPage, PropertyMarker } from "../object-store/property-marks.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { listR2Page } from "./pages.ts";
import { mapR2Errors } from "./write.ts";

/** Whether what is at a location has properties. */
export async function hasR2Properties(bucket: R2Bucket, location: ObjectLocation): Promise<boolean> {
  const key = toPropertiesKey(location);
  const found = isKey(key) ? await mapR2Errors(() => bucket.head(key)) : null;
  return found !== null && found.size > 0;
}

/** Creates the marker of the listing of a folder that begins after a name. */
export function createR2PropertyMarker(
  bucket: R2Bucket,
  folder: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit?: number } = {},
): PropertyMarker {
  const most = limit === undefined ? {} : { most: limit };
  return createListedMarker((request) => listR2Page(bucket, request), folder, { after, ...most });
}

/** Returns what the marker of a listing needs to know about a page of the folder. */
export function toR2MarkedPage(folder: string, { objects, delimitedPrefixes, truncated }: R2Page): MarkedPage {
  const last = laterKey(objects.at(-1)?.key, delimitedPrefixes.at(-1))?.slice(folder.length);
  return {
    hasProperties: delimitedPrefixes.includes(`${folder}${PROPERTIES_FOLDER}/`),
    ...(truncated && { last }),
  };
}
