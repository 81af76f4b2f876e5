import { StorageError } from "../../contracts/storage-adapter.ts";
import { readBytes } from "../../platform/read-bytes.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { laterKey } from "../object-store/first-members.ts";
import { isKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "../object-store/keys.ts";
import type { PropertyBucket, PropertyObject } from "../object-store/properties.ts";
import { createPropertyMarker, type MarkedPage, type PropertyMarker } from "../object-store/property-marks.ts";
import type { R2Bucket, R2Condition, R2Page } from "./binding.ts";
import { toCursorField } from "./pages.ts";
import { mapR2Errors } from "./write.ts";

/** Longest object with properties: 64 KiB in UTF-8, each character escaped. */
const MAX_BYTES = 1_048_576;

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

/** Reads and changes the objects with properties. */
export function createR2PropertyObjects(
  bucket: R2Bucket,
): Pick<PropertyBucket, "readObject" | "writeObject" | "removeObject"> {
  async function readObject(key: string): Promise<PropertyObject | undefined> {
    const found = await mapR2Errors(() => bucket.get(key));
    if (found === null) return undefined;
    const bytes = await mapR2Errors(() => readBytes(found.body.getReader(), MAX_BYTES));
    const text = bytes && decodeUtf8(bytes);
    if (text === undefined) throw new StorageError("unavailable", `${key}: not an object of properties`);
    return { text, etag: found.httpEtag };
  }

  async function writeObject(key: string, text: string, current: PropertyObject | undefined): Promise<boolean> {
    const onlyIf: R2Condition =
      current === undefined ? { etagDoesNotMatch: "*" } : { etagMatches: current.etag.slice(1, -1) };
    const httpMetadata = { contentType: "application/json" };
    const bytes = new TextEncoder().encode(text);
    return (await mapR2Errors(() => bucket.put(key, bytes, { onlyIf, httpMetadata }))) !== null;
  }

  return { readObject, writeObject, removeObject: (key) => mapR2Errors(() => bucket.delete([key])) };
}
