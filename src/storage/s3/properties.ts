import { isKey, type ObjectLocation, toPropertiesKey } from "../object-store/keys.ts";
import type { S3Client } from "./client.ts";
import { headObject } from "./head.ts";

/** Whether what is at a location has properties. */
export async function hasS3Properties(client: S3Client, location: ObjectLocation): Promise<boolean> {
  const key = toPropertiesKey(location);
  if (!isKey(key)) return false;
  const found = await headObject(client, key);
  return found !== undefined && found.size > 0;
}
