/** A key as the path of a URL: what is signed is what the store decodes it to. */
export function encodeKey(key: string): string {
  return key.split("/").map(encodePart).join("/");
}

/** A part of a URL, with all but the unreserved characters of RFC 3986 encoded. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
