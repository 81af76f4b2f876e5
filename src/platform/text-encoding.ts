/** Whether a text has a lone surrogate, which UTF-8 cannot encode. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** Encodes a text as UTF-8 in Base64, with padding (RFC 4648 4). */
export function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Decodes Base64 with padding, without blanks, and with zeros as unused bits: there is only one such text for the same
 * bytes (RFC 4648 3.5). Returns `undefined` for any other text.
 */
export function fromCanonicalBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!BASE64.test(text)) return undefined;
  const bytes = atob(text);
  return btoa(bytes) === text ? Uint8Array.from(bytes, (character) => character.charCodeAt(0)) : undefined;
}
