import { isKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "../object-store/keys.ts";
import { createPropertyMarker, type PropertyMarker } from "../object-store/property-marks.ts";
import type { S3Client } from "./client.ts";
import { headObject } from "./head.ts";
import { listPage } from "./list.ts";

/** Whether what is at a location has properties. */
export async function hasS3Properties(client: S3Client, location: ObjectLocation): Promise<boolean> {
  const key = toPropertiesKey(location);
  if (!isKey(key)) return false;
  const found = await headObject(client, key);
  return found !== undefined && found.size > 0;
}

/** Creates the marker of the listing of a folder that begins after a name. */
export function createS3PropertyMarker(
  client: S3Client,
  folder: string,
  signal: AbortSignal,
  { after = "", most }: { readonly after?: string | undefined; readonly most?: number } = {},
): PropertyMarker {
  const prefix = `${folder}${PROPERTIES_FOLDER}/`;

  async function* listNames(): AsyncGenerator<readonly string[]> {
    let token: string | undefined;
    do {
      const startAfter = token === undefined && after !== "" && isKey(prefix + after) ? prefix + after : undefined;
      const page = await listPage(client, { prefix, startAfter, token, signal, ...(most !== undefined && { most }) });
      yield page.keys.flatMap(({ key, size }) => (size > 0 ? [key.slice(prefix.length)] : []));
      token = page.token;
    } while (token !== undefined);
  }

  return createPropertyMarker(listNames, after);
}
