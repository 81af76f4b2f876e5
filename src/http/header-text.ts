import { decodeUtf8 } from "../platform/utf8.ts";

/**
 * Whether this runtime decodes header fields as UTF-8, as workerd does. The Fetch Standard has one character per byte
 * instead (isomorphic decoding).
 */
const isDecoded = mayHoldText();

function mayHoldText(): boolean {
  try {
    return new Headers([["x-text", "\u0100"]]).get("x-text") === "\u0100";
  } catch {
    return false;
  }
}

/** The text of a header field that is sent in UTF-8; `undefined` if it is not valid UTF-8. */
export function readFieldText(value: string): string | undefined {
  if (isDecoded) return value.includes("\ufffd") ? undefined : value;
  return decodeUtf8(Uint8Array.from(value, (character) => character.charCodeAt(0)));
}
