/**
 * Decodes one segment of a URL's path, once and strictly. Returns `undefined` for a malformed percent-encoding, for
 * invalid UTF-8, and for characters beyond printable ASCII.
 */
export function decodeSegment(raw: string): string | undefined {
  if (!/^[!-~]*$/.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** Percent-encodes all characters of a segment but the unreserved ones (RFC 3986 2.3). */
export function percentEncode(segment: string): string {
  return encodeURIComponent(segment).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Whether a text may be the name of a member of a folder (CONTRACT 2.1, 2.2). */
export function isMemberName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters.
  return name !== "" && name !== "." && name !== ".." && !/[/\\\u0000-\u001f\u007f-\u009f\p{Cs}]/u.test(name);
}
