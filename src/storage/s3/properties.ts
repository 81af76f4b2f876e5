import { isKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "../object-store/keys.ts";
import type { PropertyBucket, PropertyObject } from "../object-store/properties.ts";
import { createPropertyMarker, type PropertyMarker } from "../object-store/property-marks.ts";
import { isCode } from "../object-store/transfers.ts";
import { describeS3Request, type S3Client, type S3Request } from "./client.ts";
import { changeConditionally, type S3ConditionSupport } from "./conditional-change.ts";
import { toEtag, WRITER_HEADER } from "./entries.ts";
import { isDone, isMissing, toS3StorageError } from "./errors.ts";
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

/** Reads and changes the objects with properties. */
export function createS3PropertyObjects(
  client: S3Client,
  support: S3ConditionSupport,
): Pick<PropertyBucket, "readObject" | "writeObject"> {
  async function readObject(key: string): Promise<PropertyObject | undefined> {
    const request: S3Request = { method: "GET", key };
    const response = await client.call(request);
    if (isMissing(response)) return undefined;
    if (!isDone(response)) throw toS3StorageError(response, describeS3Request(request));
    return { text: response.text, etag: toEtag(response.headers.get("etag") ?? "") };
  }

  async function writeObject(key: string, text: string, current: PropertyObject | undefined): Promise<boolean> {
    const writer = crypto.randomUUID();
    const headers = { "content-type": "application/json", [WRITER_HEADER]: writer };
    const body = new TextEncoder().encode(text);
    try {
      await changeConditionally(client, support, {
        kind: "put",
        key,
        writer,
        conditions: current === undefined ? { ifNoneMatch: "*" } : { ifMatch: [current.etag] },
        ...(current === undefined && { isKnownToBeFree: true }),
        what: `PUT ${key}`,
        send: (conditions) => client.call({ method: "PUT", key, body, headers: { ...conditions, ...headers } }),
      });
      return true;
    } catch (error) {
      if (isCode(error, "precondition-failed")) return false;
      throw error;
    }
  }

  return { readObject, writeObject };
}
