import { StorageError } from "../../../contracts/storage-adapter.ts";

const DOT_SEGMENT = /(?:^|\/)\.\.?(?:\/|$)/;

/**
 * Encodes a key as the path of a URL. The signature covers what the store decodes this to. A URL cannot lead to a key
 * with a segment `.` or `..`, encoded or not: it would lead to another object.
 * @throws StorageError `denied` for such a key
 */
export function encodeKey(key: string): string {
  if (DOT_SEGMENT.test(key)) throw new StorageError("denied", `${key}: no URL leads to a key with . or .. in it`);
  return key.split("/").map(encodePart).join("/");
}

/** Encodes a part of a URL: all characters except the unreserved ones of RFC 3986. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Encodes the query of a URL, with its `?`. Empty if there are no parameters. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  const parts = Object.entries(query).map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
