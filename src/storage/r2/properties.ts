import { laterKey } from "../object-store/first-members.ts";
import { isKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "../object-store/keys.ts";
import { createPropertyMarker, type MarkedPage, type PropertyMarker } from "../object-store/property-marks.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { toCursorField } from "./pages.ts";
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
  { after = "", limit = 1000 }: { readonly after?: string | undefined; readonly limit?: number } = {},
): PropertyMarker {
  const prefix = `${folder}${PROPERTIES_FOLDER}/`;

  async function* listNames(): AsyncGenerator<readonly string[]> {
    let cursor: string | undefined;
    do {
      const startAfter = cursor === undefined && after !== "" && isKey(prefix + after) ? prefix + after : undefined;
      const start = startAfter === undefined ? toCursorField(cursor) : { startAfter };
      const page: R2Page = await mapR2Errors(() => bucket.list({ prefix, limit, ...start }));
      yield page.objects.flatMap(({ key, size }) => (size > 0 ? [key.slice(prefix.length)] : []));
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  return createPropertyMarker(listNames, after);
}

/** Returns what the marker of a listing needs to know about a page of the folder. */
export function toR2MarkedPage(folder: string, { objects, delimitedPrefixes, truncated }: R2Page): MarkedPage {
  const last = laterKey(objects.at(-1)?.key, delimitedPrefixes.at(-1))?.slice(folder.length);
  return {
    hasProperties: delimitedPrefixes.includes(`${folder}${PROPERTIES_FOLDER}/`),
    ...(truncated && { last }),
  };
}
